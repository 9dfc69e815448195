import JOSE

/// Public keys whose private keys nobody has, and everything that was ever signed with them.
enum FuzzedKeys {
    static let keySet: KeySet = {
        let json =
            #"{"keys":[{"kty":"RSA","kid":"rsa","n":"\#(modulus)","e":"AQAB"},"#
            + #"{"kty":"EC","kid":"p256","crv":"P-256","x":"\#(x)","y":"\#(y)"}]}"#
        guard let keySet = KeySet(json: Array(json.utf8)), keySet.keys.count == 2 else {
            preconditionFailure("two usable keys")
        }
        return keySet
    }()

    /// Signing inputs (RFC 7515 §5.1) of the tokens `rs256` and `es256` in `Corpus/jwt`.
    static let signed = [
        "eyJhbGciOiJSUzI1NiIsImtpZCI6InJzYSIsInR5cCI6IkpXVCJ9.\(payload)",
        "eyJhbGciOiJFUzI1NiIsImtpZCI6InAyNTYiLCJ0eXAiOiJKV1QifQ.\(payload)",
    ]

    private static let payload =
        "eyJpc3MiOiJodHRwczovL2V4YW1wbGUuY29tIiwiYXVkIjpbImEiLCJiIl0sInN1YiI6InMiLCJpYXQiOjEsImV4cCI6Mi41"
        + "LCJuYmYiOjB9"
    private static let modulus =
        "inv7iAvy_SwLGIzwQDrMyqsiDU0YcWBpGxFx_Q1PF-Fd81GZqL3Ax-PwuYDjI-C9CBOGa26FxDmnPuwYnzK3_L6zqxBn_5wZ"
        + "BYDeY03P3PawtH6VZB5n8MaOD5uW-KYsUofZtfBvtPUc3ZpjkJHPViwSeLBQxK7rBJxJRglkRv_vzycqIHBM1BfQ_2P9U4UM"
        + "UNYmAbRY33ulYZ5oxBG2RVrLU0jSzs1x0LxXKfp0EWWwdjLW0nC4VOFbL8BclfAPemt-zhhl12bOwK2Sq7tvoWQ9ovyMVL3Q"
        + "-jNrywp67dxp3K3gNS3Zm1GpFrr-Gx9DO_S0fwUS100mRmYPjZ-rHw"
    private static let x = "slFsUFwEn39nEbWAjhDjRoNWEL51DlDlVw_l5GPIGtE"
    private static let y = "4t1rpGk4UN8vfgHBdtrPGSIFvVcxHCEAgmEUMTSxRJ0"
}
