/// Private keys in PEM, made for these tests.
enum Keys {
    /// P-384: another curve.
    static let p384 = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDAV+NYAPoAiENgHS1DD
        /XMstV+aXOrgnVtb3UqYinjydGcoRU8urpWPv4Gwfg/pfwihZANiAARmGR4SLxty
        1KaS89H7ycjuxfE7AJRO88f7/2vOCBClVy1i/WBWuNiO80ehkDADjJE8qNbPjEvu
        bRFZ+pwvTu4QqYACmXDplnfdebtqgAB5bdJHsTjpO2tHG8s9d0icbjM=
        -----END PRIVATE KEY-----

        """

    /// Ed25519: another algorithm.
    static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIETW66uVIlTXfbNPbAukFWV46gjZcYYE0juKOepxG47B
        -----END PRIVATE KEY-----

        """

    /// P-256 under a password.
    static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiLzaUIi5tl4QICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEAQIEEFRKvb80GOdzQP4P3YhCc4IEgZA1
        Tq1Nt3a7/iulnaDweWHpnfrRAdc94v4f6PkgCmcEI0IVydCKyvKePeWv/4wi5Pw9
        dIwNquwZQKQ1KQBnqtRxCoRbzrxbfPr7Qgc8lPi8IoGWrizJ2liq5PHj9p6NLbVs
        rg7CN866JwM5OX8X3feWYrRHOrgi1t861egdcdKIDSM/bzdl0jdg+SAxcrRYP4c=
        -----END ENCRYPTED PRIVATE KEY-----

        """

    /// P-256.
    static let p256 = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgcS4l/cI4TfYaJKXu
        qXmZ0k11Has5fjf7hOfkS58TMHChRANCAAT4AgdxdLZ2cOxPHM6Ey9IhZHqrMhga
        zm455QlriSg2Kl1Ofo/gpB2KHI7925GWyyORRjurPdf0YVnx691Y7lz4
        -----END PRIVATE KEY-----

        """

    /// The same key in its older form (SEC 1).
    static let sec1 = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIHEuJf3COE32GiSl7ql5mdJNdR2rOX43+4Tn5EufEzBwoAoGCCqGSM49
        AwEHoUQDQgAE+AIHcXS2dnDsTxzOhMvSIWR6qzIYGs5uOeUJa4koNipdTn6P4KQd
        ihyO/duRlssjkUY7qz3X9GFZ8evdWO5c+A==
        -----END EC PRIVATE KEY-----

        """

    /// Its public half.
    static let p256Public = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE+AIHcXS2dnDsTxzOhMvSIWR6qzIY
        Gs5uOeUJa4koNipdTn6P4KQdihyO/duRlssjkUY7qz3X9GFZ8evdWO5c+A==
        -----END PUBLIC KEY-----

        """

    /// RSA, too short.
    static let rsa1024 = """
        -----BEGIN PRIVATE KEY-----
        MIICdQIBADANBgkqhkiG9w0BAQEFAASCAl8wggJbAgEAAoGBALs3LJMwyIQOOjQI
        NerK2QSG/gj0CKPtw2EVDQdjoeWNFPQwdhxEO/Kjx2FWAtLTHZgnZO+geJIMPjue
        EabEMtjJ0nRx1VO3XHANo2AgdPfVU5GkABslexNBdTM18sPV+6WQZT7BtumzgEDi
        STse96szNBaHqxyMimGKepzc6zSnAgMBAAECgYAFzrtaQYwm1I4nqQ2LIAnFYy6k
        NnXCKBEEhPOnhAa0qUC6Jnqze8ZkS4JW2aUyxwvG+YnfCRpUZX7UuJ2Rj8qH83i5
        SKQy6dPuiBTiKOvK1d/VbPbAPKBFOiUeevVRo6XODhdHYBoWSXOmnKGg7cf0A2t0
        xy/ClWMbn/O2BIU1MQJBAObxCM5kBxgAEZzxphae97NV/SlWMWvweLLWsunMi9hb
        WKrk9vJie9nZgQ7+4pS0fbGUBBPLa88eHIcW83lowikCQQDPh4rydgO1y2MZAAUc
        2zGphks3xtmPKuvZwEum9uwwkZrbAev27+TnovaxIpwb1+r48MNrHg0Fvb1jLIL0
        CjpPAkBeT9kU0GzFNGH9AgKeAlWN+3PjybttJUtlXaC7Mjl6JfPT9qWS3v1NPjIi
        eZz2ta8PMi9oFg71CosD8C+GSW3hAkBHaCYBI2ZHaUIh2gXoVeuSnyjGel9liak5
        dZcSTiga1h7oeJLOluC2azZi4LvCQNsS6RT0iJSGgzDlLO2qNtK1AkAzTcop3VOg
        dshhFI90wFabyam01PVmUnsSTx7gVVz5hVMiqU0mkcrUOoc5+hcRReVJ43S4OucY
        UsuDOw9JFADY
        -----END PRIVATE KEY-----

        """

    /// RSA that may only be used with PSS.
    static let rsaPSS = """
        -----BEGIN PRIVATE KEY-----
        MIIEuwIBADALBgkqhkiG9w0BAQoEggSnMIIEowIBAAKCAQEAp1F72xI6Wro/SFMF
        JEXIIATEK2ekZJ4FAFt7D/87oOi4JPguVNYgK5oWOvAECfq1sW1zoV2mydUjS5Q4
        8fKKMr8Ty3hRVMXhZ9opnsCIYqvH2VlwGlALeCQ+XUSLQHHnQQgwS1P4QPF4PH6S
        mJDWBF3ykZ16ODOKdNM0UDuXwIbtvw+xbSn/V2wZN+lTcmtqA2PnYpOUNH2DEmFt
        MPWxLHN8A2SGT81tyS7NPjkKAKvY+LyMAtLoRZ8KOqXlECS2V0cGkwSmdtMMAwok
        QNXAEFurT3kvSUzyIZeM5GurYjGtHLoRudYYedQSHIOpigwpRzP985DbMQM9Y3yI
        vnJbpQIDAQABAoIBAALTgocRyMCNktIS7OxO7XF1AydEiedVL/pwkSSVCBnQtIOT
        WZz/PO3fnW6DbV4JyRXlJmXcYhvYqM73Avs7QJBY3+m4747CBOuvKLLQx7z679ZB
        B366SWdPHWqP5NZC1kgn7kDnezMFoSVMcgd3stXCDH3fLhhS7ozIoIKWbxrGZaW5
        IqWXcBqN4BTxEiQeIVUAkzNaAZbrv8BN74DEcEMidtDuWe3J5Lvzd7Shy+vD1ktL
        H1da/koz08M+ym3cNo45xEapxXGMMm2bd2VQQ4fSLIqqdl+TzTPNHsX57QWYiuNQ
        0P/LGagLtHeSXd2dvf7wQYczCRP/KB1/fR6htwECgYEA6Ge+BkfoP0RMK9HO4AN9
        wEvhULS8tGC+etE/k0xgAjTVfckAwAdAjusD3YRHP919rR1AJENPikoWQdmDFJ0J
        Z1eb/Jtv7iEecwTIE495X1OFn8pPVYlACbFqWhUN8e9zvOcGxBHxRC6BC3w+r1PR
        WznvBRD3JGMRZVYj1Yk+FUECgYEAuE4eebhQ2jVa+1EGFM5fzJsWUGTyLRVYMwY8
        Bw50m2jDsvqGQ5dzFI4bSlsDd+lsIlh/ujIjemG45Fg4ZXWAgJ4A8zRj5oMdXK5E
        m7p1Y7lvg89lRjMs30eh2YXleM6ms2wdJUa+Vjnlhfvil7NuAIoW2Cw9nDPfx7Z8
        Zt2YuWUCgYBjiZM8k22oMzNAjVLCZRxl0NoGu/Iae1j5t0c4ajywlTpe7kjw9eoz
        i/qS1IXDl7StAVsobN/TRdn0iBl5Ka0OYtp/PX+aCPtGneSnZArCxj3z6y1BYFBa
        Fm+Ld3sKhNkYLgaa0Wh5IEXKyoL6irafENgLXnHLVtbrhRJB8c7yQQKBgFUfl4nG
        bGlsLTpYAMQJUUvR8WtuREA4VIU0gvMLZSYGLCT0+qArSfabb9VW1fJDODNgxpV7
        5ND4Y4nriRirPY+p6mxprR5hPmV5A60dYGyP0AaD+pWCu13g2sr5wbObVnkWHRwD
        YZO3p9/LJ6vDLrJHFSgAvu/vMZMvIKPuA0TVAoGBAKKcJcryP3Xb8zYJeinUPk48
        arCOnm8MZ9sKzv08o/9eFjb1QoytgAsKyw6FZFq+yr0ePOaaMWfAGEQSAUSdbYEV
        Hs+fX4NEZxfQmoz6myecApBwta0zNe2CKME3MXmy2XIdpFW2sjDsBQR7jjoTX0nq
        wVVhA9ptjUQEgfEtqpCU
        -----END PRIVATE KEY-----

        """
}
