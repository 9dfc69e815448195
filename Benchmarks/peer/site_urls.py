"""The paths of the site, and the claims that its userinfo has, as the toolkit's documentation does it."""

from django.urls import include, path
from oauth2_provider.oauth2_validators import OAuth2Validator


class Validator(OAuth2Validator):
    def get_additional_claims(self, request):
        return {"name": request.user.first_name, "email": request.user.email}


urlpatterns = [path("o/", include("oauth2_provider.urls", namespace="oauth2_provider"))]
