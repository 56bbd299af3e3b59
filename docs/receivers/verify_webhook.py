"""Verifies that a webhook comes from Quita. Copy this file into your service. It needs Python 3.9 or newer and no packages."""
import base64
import hashlib
import hmac
import json
import re
import time

TOLERANCE_SECONDS = 300


class WebhookVerificationError(Exception):
    """The webhook can't be trusted: answer 400. `code` is for programs, the message for people."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def verify_webhook(secret, headers, raw_body, now=None):
    """Verifies a webhook and returns its event as {"id", "type", "sent_at", "payload"}; "sent_at" is in Unix seconds.

    A repeated event has the same `id`: process each `id` once. `secret` is the endpoint's secret as text, or a list of secrets during a
    rotation. `headers` are those of the request, `raw_body` is the bytes of its body before any parser, and `now` (Unix seconds) is for
    tests. X-Acme-Signature verifies `charge.*`, `payout.*`, `med_case.*` and `med.resolved`. In `payment.*` and `withdrawal.*` it signs
    neither the time nor the event's id, so the headers of Standard Webhooks, which sign both, must also be valid. Without
    X-Acme-Signature, only those headers are checked. Raises WebhookVerificationError if the webhook is invalid, TypeError if an argument
    has the wrong type.
    """
    secrets = [secret] if isinstance(secret, str) else list(secret or [])
    if not secrets or not all(isinstance(one, str) and one for one in secrets):
        raise TypeError("secret must be a non-empty string, or a list of such strings")
    if not isinstance(raw_body, bytes):
        raise TypeError("raw_body must be the bytes of the unparsed body")

    found = {name.lower(): value for name, value in headers.items()}
    event_id, timestamp = found.get("webhook-id", ""), found.get("webhook-timestamp", "")
    standard, acme = found.get("webhook-signature", ""), found.get("x-acme-signature", "")
    canonical = re.fullmatch(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})", acme)
    legacy = re.fullmatch(r"sha256=([0-9a-f]{64})", acme)
    if acme and not canonical and not legacy:
        raise WebhookVerificationError("malformed_signature", "X-Acme-Signature is neither t=…,v1=… nor sha256=…")
    if not canonical and not (event_id and re.fullmatch(r"[0-9]{1,12}", timestamp) and standard):
        raise WebhookVerificationError("missing_signature", "no valid header signs the time and the event id")

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
        raise WebhookVerificationError("wrong_signature", "the signature does not match the body and the secret")
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        raise WebhookVerificationError("outside_tolerance", f"the timestamp is off by more than {TOLERANCE_SECONDS} s")
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
        raise WebhookVerificationError("malformed_body", "the body is not valid JSON") from None
    if not isinstance(payload, dict):
        raise WebhookVerificationError("malformed_body", "the body is not an event")
    # The canonical envelope contains the event id; the legacy one does not.
    event = {"id": payload.get("id", signed_id), "type": payload.get("type", payload.get("event")), "payload": payload}
    if isinstance(event["id"], str) and isinstance(event["type"], str):
        return event
    raise WebhookVerificationError("malformed_body", "the body is not an event")
