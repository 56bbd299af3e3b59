// Carries out a fault: damages the response or sends none.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Bank } from './bank.ts';
import type { Fault } from './faults.ts';
import { type Sending, send } from './sending.ts';
import type { Settings } from './settings.ts';

const JSON_TYPE = 'application/json';
const HTML = '<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>';

const problemText = (status: number | string, title: string): string =>
  JSON.stringify({ type: 'https://pix.bcb.gov.br/api/v2/error/ErroInternoDoServidor', title, status, detail: title });
/** Efí’s analysis refuses a Pix-out with 422 `pagamento_negado`. `erro_aplicacao` is its general error. */
const asProblem = (status: number, title: string, dialect: Settings['dialect']): Sending =>
  dialect === 'efi'
    ? {
        status,
        contentType: JSON_TYPE,
        text: JSON.stringify({ nome: status === 422 ? 'pagamento_negado' : 'erro_aplicacao', mensagem: title }),
      }
    : { status, contentType: 'application/problem+json', text: problemText(status, title) };
const TITLES: Readonly<Record<string, string>> = {
  '401': 'Não autorizado.',
  '409': 'Conflito.',
  '422': 'Entidade não processável.',
  '429': 'Muitas requisições.',
  '500': 'Erro interno do servidor.',
  '503': 'Serviço indisponível.',
};

/** Returns the value with texts for numbers and numbers for texts, at every depth. */
const wrongTypes = (value: unknown): unknown => {
  if (Array.isArray(value)) return Object.fromEntries(value.map((item, i) => [String(i), wrongTypes(item)]));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, wrongTypes(item)]));
  return typeof value === 'number' ? String(value) : value === null ? 0 : typeof value === 'string' ? value.length : {};
};

/** Returns the response to send instead of `truth`, which is null if the call had no effect. */
const replacement = (fault: Fault, truth: Sending | null, dialect: Settings['dialect']): Sending => {
  const status = truth?.status ?? 200;
  const text = truth?.text ?? '{}';
  switch (fault.kind) {
    case '500':
    case '503':
    case '409':
    case '422':
    case '429':
    case '401':
      return asProblem(Number(fault.kind), TITLES[fault.kind] as string, dialect);
    case 'html':
      return { status: 502, contentType: 'text/html', text: HTML };
    case 'statusAsText':
      return {
        status: 500,
        contentType: 'application/problem+json',
        text: problemText('500', TITLES['500'] as string),
      };
    case 'empty':
      return { status, contentType: JSON_TYPE, text: '' };
    case 'null':
      return { status, contentType: JSON_TYPE, text: 'null' };
    case 'list':
      return { status, contentType: JSON_TYPE, text: `[${text}]` };
    case 'garbage':
      return { status, contentType: JSON_TYPE, text: text.slice(0, Math.ceil(text.length / 2)) };
    case 'wrongTypes':
      return { status, contentType: JSON_TYPE, text: JSON.stringify(wrongTypes(JSON.parse(text))) };
    case 'slow':
      return { status, contentType: truth?.contentType ?? JSON_TYPE, text: truth?.text ?? null };
    case '200':
    case '202':
    case '204':
      return { status: Number(fault.kind), contentType: JSON_TYPE, text: null };
    case 'timeout':
    case 'reset':
    case 'lost':
      throw new Error(`${fault.kind} sends no answer`);
  }
};

/** Announces the full length and cuts the connection after half of the response. */
const breakOff = (res: ServerResponse, { status, contentType, text }: Sending): void => {
  const bytes = Buffer.from(text ?? '');
  res.writeHead(status, { 'content-type': contentType, 'content-length': bytes.length + 1 });
  res.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => res.destroy());
};

export const misbehave = async (
  bank: Bank,
  fault: Fault,
  req: IncomingMessage,
  res: ServerResponse,
  truth: Sending | null,
): Promise<void> => {
  if (fault.kind === 'timeout') return; // The client times out, or `close` cuts the connection.
  if (fault.kind === 'reset') {
    // Node can’t reset a TLS connection. A close before the response looks the same to clients.
    if (req.socket instanceof TLSSocket) req.socket.destroy();
    else req.socket.resetAndDestroy();
    return;
  }
  const sending = fault.kind === 'lost' ? truth : replacement(fault, truth, bank.settings.dialect);
  if (fault.kind === '401') bank.tokens.expire(req.headers);
  if (fault.kind === 'slow') await bank.pauses.wait(fault.ms);
  if (fault.kind === 'lost') breakOff(res, sending ?? { status: 200, contentType: JSON_TYPE, text: '{}' });
  else send(res, sending as Sending, fault.kind === '429' ? { 'retry-after': String(fault.retryAfter) } : {});
};
