// The institution’s API over HTTP: routes, authentication, responses and faults.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Bank } from './bank.ts';
import type { Answer } from './call.ts';
import { efiFormOf } from './efiForm.ts';
import type { Fault } from './faults.ts';
import { misbehave } from './misbehave.ts';
import type { Operation } from './operations.ts';
import { problem, Refusal } from './refusal.ts';
import { ROUTES, type Route } from './routes.ts';
import { bodyOf, type Sending, send } from './sending.ts';

export const TOKEN_PATH = '/oauth/token';
const UNAUTHORIZED = 401;

const parsed = (text: string): unknown => {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    throw problem('RequisicaoInvalida', { razao: 'O corpo não é um JSON válido.' });
  }
};

const sendingOf = ({ status, body }: Answer): Sending => ({
  status,
  contentType: 'application/json',
  text: body === undefined ? null : JSON.stringify(body),
});
const sendingOfRefusal = ({ status, contentType, body }: Refusal): Sending => ({
  status,
  contentType,
  text: JSON.stringify(body),
});

/** Returns a path segment decoded, or unchanged if it is malformed. */
const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

interface Matched {
  readonly route: Route;
  readonly params: readonly string[];
}

const match = (method: string, path: string): Matched | null => {
  for (const route of ROUTES) {
    const found = method === route.method ? route.path.exec(path) : null;
    if (found !== null) return { route, params: found.slice(1).map(decoded) };
  }
  return null;
};

/** Returns a listener for requests to the institution. */
export const apiListener = (bank: Bank) => {
  const answerOf = async (req: IncomingMessage, url: URL, text: string): Promise<Answer> => {
    const { headers } = req;
    if (url.pathname === TOKEN_PATH) return { status: 200, body: bank.tokens.issue({ headers, body: text }) };
    const { route, params } = match(req.method ?? '', url.pathname) as Matched;
    const account = bank.tokens.accountOf(headers, route.scope);
    return route.answer({ bank, account, params, query: url.searchParams, headers, body: parsed(text) });
  };

  /** Responds as the institution should. `fault` damages the response, not its effect. */
  const answer = async (req: IncomingMessage, res: ServerResponse, url: URL, text: string, fault: Fault | null) => {
    let sending: Sending;
    let afterwards: (() => void) | undefined;
    let damage = fault;
    try {
      const given = await answerOf(req, url, text);
      ({ afterwards } = given);
      sending = sendingOf(given);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (fault !== null && error.status === UNAUTHORIZED) {
        // The 401 is genuine. The fault is meant for the repeat with a new token.
        bank.faults.giveBack(fault);
        damage = null;
      }
      sending = sendingOfRefusal(bank.settings.dialect === 'efi' ? efiFormOf(error) : error);
    }
    if (damage === null) send(res, sending);
    else await misbehave(bank, damage, req, res, sending);
    afterwards?.();
  };

  const operationOf = (req: IncomingMessage, { pathname }: URL): Operation | null =>
    pathname === TOKEN_PATH && req.method === 'POST'
      ? 'token'
      : (match(req.method ?? '', pathname)?.route.operation ?? null);

  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const url = new URL(req.url ?? '/', 'http://simulator.invalid');
    res.setHeader('date', new Date(bank.clock.now()).toUTCString());
    const operation = operationOf(req, url);
    const text = await bodyOf(req);
    if (operation === null) {
      send(res, sendingOfRefusal(problem('NaoEncontrado')));
      return;
    }
    const fault = bank.faults.take(operation, url.pathname);
    bank.count(operation);
    if (fault?.when === 'before' && fault.kind !== 'slow') await misbehave(bank, fault, req, res, null);
    else {
      if (fault?.when === 'before') await bank.pauses.wait(fault.ms);
      await answer(req, res, url, text, fault?.when === 'after' ? fault : null);
    }
  };

  return (req: IncomingMessage, res: ServerResponse): void => {
    handle(req, res).catch((error: unknown) => {
      // The client disconnected while it sent its request, so there is nothing to respond to.
      if (!req.complete || res.headersSent) res.destroy();
      else {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
        send(res, sendingOfRefusal(problem('ErroInternoDoServidor')));
      }
    });
  };
};
