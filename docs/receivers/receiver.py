from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import environ

from verify_webhook import WebhookVerificationError, verify_webhook

# During a rotation, list the new secret and the old one. Store handled ids in a unique column of your database.
secrets, handled = environ["WEBHOOK_SECRETS"].split(","), {}


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            event = verify_webhook(secrets, self.headers, self.rfile.read(int(self.headers["Content-Length"])))
            if handled.setdefault(event["id"], self) is self:
                print(f"signature valid: {event['type']} {event['id']}\n", end="", flush=True)
            self.send_response(204)
        except WebhookVerificationError as error:
            self.send_response(400, error.code)
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(environ["PORT"])), Receiver).serve_forever()
