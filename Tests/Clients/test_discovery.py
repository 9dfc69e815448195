import unittest

import requests
from authlib.jose import JsonWebKey
from authlib.oidc.discovery import OpenIDProviderMetadata, get_well_known_url

import provider


class Discovery(unittest.TestCase):
    def setUp(self):
        answer = requests.get(get_well_known_url(provider.URL, external=True))
        self.assertEqual(answer.status_code, 200)
        self.headers = answer.headers
        self.metadata = answer.json()

    def test_the_document_is_valid(self):
        OpenIDProviderMetadata(self.metadata).validate()
        self.assertEqual(self.metadata["issuer"], provider.URL)
        self.assertEqual(self.metadata["code_challenge_methods_supported"], ["S256"])
        self.assertEqual(self.headers["Cache-Control"], "public, max-age=3600")

    def test_every_endpoint_is_there(self):
        names = [name for name in self.metadata if name.endswith("_endpoint")]
        self.assertEqual(len(names), 7)
        for name in names:
            self.assertTrue(self.metadata[name].startswith(provider.URL + "/"), name)
            self.assertNotEqual(requests.get(self.metadata[name]).status_code, 404, name)

    def test_keys_are_public(self):
        keys = requests.get(self.metadata["jwks_uri"]).json()
        self.assertTrue(keys["keys"])
        for key in JsonWebKey.import_key_set(keys).keys:
            self.assertTrue(key.public_only)
            self.assertEqual((key["use"], key["alg"]), ("sig", "RS256"))

    def test_which_answers_other_origins_may_read(self):
        readable = ["token_endpoint", "revocation_endpoint", "userinfo_endpoint", "jwks_uri"]
        for name in [*readable, "authorization_endpoint", "introspection_endpoint", "device_authorization_endpoint"]:
            asked = requests.options(self.metadata[name], headers={
                "Origin": "https://rp.example", "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "authorization"})
            answered = requests.get(self.metadata[name], headers={"Origin": "https://rp.example"})
            for answer in (asked, answered):
                self.assertEqual(
                    answer.headers.get("Access-Control-Allow-Origin"), "*" if name in readable else None, name)
                self.assertNotIn("Access-Control-Allow-Credentials", answer.headers)
            if name in readable:
                self.assertEqual(asked.status_code, 204)
                self.assertIn("Authorization", asked.headers["Access-Control-Allow-Headers"])
