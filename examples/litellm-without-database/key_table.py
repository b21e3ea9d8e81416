# LiteLLM's custom_auth hook: a table of keys instead of a database. `node set-up.mjs` writes the keys.
import hashlib
from pathlib import Path

from litellm.proxy._types import ProxyException, UserAPIKeyAuth

TERMS = {
    "valid": {"team_id": "main"},
    "second": {"team_id": "main"},
    "other": {"team_id": "other"},
    "rate": {"team_id": "rate", "team_rpm_limit": 20},
    "rate-second": {"team_id": "rate", "team_rpm_limit": 20},
    "slots": {"max_parallel_requests": 4},
}
KEYS = {Path(__file__).with_name("keys").joinpath(f"{name}.key").read_text().strip(): terms for name, terms in TERMS.items()}


async def user_api_key_auth(request, api_key):
    terms = KEYS.get(api_key)
    if terms is None:
        raise ProxyException(message="Invalid API key", type="invalid_api_key", param=None, code=401)
    return UserAPIKeyAuth(api_key=api_key, token=hashlib.sha256(api_key.encode()).hexdigest(), **terms)
