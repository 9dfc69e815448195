"""The settings of a Django site that is a provider by Django OAuth Toolkit, and nothing else. peer_django.py sets the variables.

No middleware, because these paths need none, and persistent connections to the database.
"""

import os

SECRET_KEY = os.environ["PEER_PASSWORD"]
ALLOWED_HOSTS = ["*"]
USE_TZ = True
ROOT_URLCONF = "site_urls"
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "oauth2_provider"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.mysql",
        "NAME": "django_peer",
        "USER": "django_peer",
        "PASSWORD": os.environ["PEER_PASSWORD"],
        "OPTIONS": {"unix_socket": os.environ["PEER_DATABASE_SOCKET"], "charset": "utf8mb4"},
        "CONN_MAX_AGE": None,
    }
}
OAUTH2_PROVIDER = {
    "OIDC_ENABLED": True,
    "OIDC_RSA_PRIVATE_KEY": os.environ["PEER_KEY"],
    "OAUTH2_VALIDATOR_CLASS": "site_urls.Validator",
    "SCOPES": {"openid": "Sign in", "profile": "Profile"},
    "ROTATE_REFRESH_TOKEN": True,
}
# One line for each failure, like merganserd.
LOGGING = {
    "version": 1,
    "handlers": {"stderr": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
}
