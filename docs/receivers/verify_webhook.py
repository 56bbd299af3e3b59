"""Tells whether a webhook comes from Quita. Copy this file into your service: Python 3.9 or newer, standard library only."""
import base64
import hashlib
import hmac
import json
import re
import time

TOLERANCE_SECONDS = 300


class WebhookVerificationError(Exception):
    """The webhook is not to be trusted: answer 400. `code` says why, to programs; the message, to people."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def verify_webhook(secret, headers, raw_body, now=None):
    """Verifies a webhook and returns its event as {"id", "type", "sent_at", "payload"}; "sent_at" is in Unix seconds.

    `id` stays the same when the event comes again: do the work once for each. `secret` is the endpoint's, as it was shown; a list while
    you replace one by another. `headers` are those of the request, `raw_body` its bytes before anything has parsed them; `now` (Unix
    seconds) is for tests. `charge.*` and `payout.*` are verified by X-Acme-Signature. That of `payment.*` and `withdrawal.*` signs
    neither the instant nor the event's id, so the headers of Standard Webhooks, which sign both, must hold as well. Without
    X-Acme-Signature those alone decide. Raises WebhookVerificationError; TypeError when it is called with something else.
    """
    secrets = [secret] if isinstance(secret, str) else list(secret or [])
    if not secrets or not all(isinstance(one, str) and one for one in secrets):
        raise TypeError("secret must be the text of a secret, or a list of such texts")
    if not isinstance(raw_body, bytes):
        raise TypeError("raw_body must be the bytes of the body, not what a parser has made of them")

    found = {name.lower(): value for name, value in headers.items()}
    event_id, timestamp = found.get("webhook-id", ""), found.get("webhook-timestamp", "")
    standard, acme = found.get("webhook-signature", ""), found.get("x-acme-signature", "")
    canonical = re.fullmatch(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})", acme)
    legacy = re.fullmatch(r"sha256=([0-9a-f]{64})", acme)
    if acme and not canonical and not legacy:
        raise WebhookVerificationError("malformed_signature", "X-Acme-Signature is neither t=…,v1=… nor sha256=…")
    if not canonical and not (event_id and re.fullmatch(r"[0-9]{1,12}", timestamp) and standard):
        raise WebhookVerificationError("missing_signature", "no header signs when it was sent and which event it is")

    def signs(prefix, sent):
        macs = [hmac.new(one.encode(), prefix.encode() + raw_body, hashlib.sha256).digest() for one in secrets]
        return any([hmac.compare_digest(mac, sent) for mac in macs])

    if canonical:
        timestamp = canonical[1]
        is_genuine = signs(f"{timestamp}.", bytes.fromhex(canonical[2]))
    else:
        is_genuine = (not legacy or signs("", bytes.fromhex(legacy[1]))) and any(
            [signs(f"{event_id}.{timestamp}.", sent) for sent in standard_macs(standard)]
        )
    if not is_genuine:
        raise WebhookVerificationError("wrong_signature", "the body was changed, or signed with another secret")
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        raise WebhookVerificationError("outside_tolerance", f"it was signed more than {TOLERANCE_SECONDS} s from now")
    return {**event_of(raw_body, None if canonical else event_id), "sent_at": int(timestamp)}


def standard_macs(header):
    macs = []
    for one in header.split(" "):
        if one.startswith("v1,"):
            try:
                macs.append(base64.b64decode(one[3:], validate=True))
            except ValueError:
                continue
    return macs


def event_of(raw_body, signed_id):
    try:
        payload = json.loads(raw_body)
    except ValueError:
        raise WebhookVerificationError("malformed_body", "the body is no JSON") from None
    if not isinstance(payload, dict):
        raise WebhookVerificationError("malformed_body", "the body is no event")
    # The canonical envelope names its event itself, the older one does not.
    event = {"id": payload.get("id", signed_id), "type": payload.get("type", payload.get("event")), "payload": payload}
    if isinstance(event["id"], str) and isinstance(event["type"], str):
        return event
    raise WebhookVerificationError("malformed_body", "the body is no event")
