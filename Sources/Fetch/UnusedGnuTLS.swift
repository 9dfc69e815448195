/// Says to GnuTLS, when it is loaded, that it need not initialize itself (GnuTLS manual, "Initialization"), which takes
/// time and half a megabyte. Debian's libcurl loads it for LDAP and RTMP, which this program never asks for.
///
/// GnuTLS looks this name up in the program, so a release exports it (`scripts/lib.sh`).
///
/// - Returns: 1.
@c(_gnutls_global_init_skip)
public func skipInitializationOfGnuTLS() -> CInt { 1 }
