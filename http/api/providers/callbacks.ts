// Routes by which institutions call back (rule V2). The secret in the path is the credential, so the path must never be logged.
import { reject } from '../../../domain/kernel/rejection.ts';
import { exactly } from '../../kernel/jsonSchema.ts';
import { type ArrivingBody, json, type ParamRule, type Route, route } from '../../kernel/route.ts';
import { FOR_INSTITUTIONS } from './tags.ts';

const CALLBACK_BYTES_MAX = 256 * 1_024;
const TOO_LARGE = reject('payload_too_large', `The body is larger than ${CALLBACK_BYTES_MAX} bytes.`);

/** Both parameters identify the caller, before the handler runs. */
const text = (description: string): ParamRule<string> => ({
  description,
  schema: { type: 'string' },
  parse: (value) => value,
});

const bytesOf = async (body: ArrivingBody): Promise<Uint8Array> => {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const callbackRoute = (end: '' | '/pix', operationId: string): Route =>
  route('POST', `/providers/{id}/{secret}${end}`, {
    operationId,
    summary: 'Take a callback of an institution',
    tag: FOR_INSTITUTIONS,
    principal: 'provider',
    limit: 'callbacks',
    params: { id: text('The connection.'), secret: text('The credential.') },
    body: { kind: 'stream', contentTypes: null, bytesMax: CALLBACK_BYTES_MAX },
    responses: { 200: json('The callback is stored.', exactly({})) },
    errors: ['client_certificate_required'],
    handle: async ({ caller, body, services }) => {
      // Rejected at once, because reading would wait for the whole upload.
      if ((body.size ?? 0) > CALLBACK_BYTES_MAX) return { ...TOO_LARGE, headers: { Connection: 'close' } };
      await services.storeCallback(caller.connectionId, await bytesOf(body));
      return { status: 200, body: {} };
    },
  });

/** Some institutions append `/pix` to the registered URL. */
export const CALLBACK_ROUTES: readonly Route[] = [
  callbackRoute('', 'takeCallback'),
  callbackRoute('/pix', 'takePixCallback'),
];
