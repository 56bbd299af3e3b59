// The files of dispute cases themselves: sent to and seen at signed URLs of this service, which are their own credentials (rule Q6).

import { EVIDENCE_BYTES_MAX, EVIDENCE_TYPES } from '../../../domain/dispute/evidenceFile.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { type QueryRule, type Route, route } from '../../kernel/route.ts';
import { evidenceParam } from './evidence.ts';
import { DISPUTES } from './tags.ts';

const params = { id: evidenceParam } as const;

const TOKEN: QueryRule<string, string> = {
  description: 'The credential in the URL, as it was given out.',
  expects: 'the token of the URL',
  schema: { type: 'string' },
  parse: (text) => text,
  fallback: '',
  code: 'invalid_signature',
};

const receiveRoute = route({
  method: 'PUT',
  path: '/evidence/{id}',
  operationId: 'receiveEvidence',
  summary: 'Where a granted file is sent, once, with just the granted type and size',
  tag: DISPUTES,
  principal: 'public',
  params,
  query: { token: TOKEN },
  body: { kind: 'stream', contentTypes: null, bytesMax: EVIDENCE_BYTES_MAX },
  responses: { 200: { kind: 'empty', description: 'The file is stored. `ETag` is its SHA-256.' } },
  errors: ['not_found', 'invalid_signature', 'upload_in_progress', 'upload_too_slow'],
  handle: async ({ params: { id: evidenceId }, query: { token }, body, services }) => {
    const { contentType, size } = body;
    const stored = await services.receiveEvidence({ evidenceId, token, contentType, size, body });
    return isRejection(stored) ? stored : { status: 200, headers: { ETag: `"${stored.sha256}"` } };
  },
});

/** After which a download that was refused may find a place. */
const RETRY_AFTER_SECONDS = '5';

/** Whatever a browser is made to do with it, it is a file to be saved, and does nothing. */
const HARMLESS = {
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'private, no-store',
} as const;

/** RFC 6266, with the name as it is and one for readers that know ASCII alone. */
const attachment = (fileName: string): string => {
  const plain = fileName.replaceAll(/[^ !#$&'()+,\-.0-9;=@A-Z[\]^_`a-z{}~]/g, '_');
  const encoded = encodeURIComponent(fileName.toWellFormed()).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
};

const showRoute = route({
  method: 'GET',
  path: '/evidence/{id}',
  operationId: 'showEvidence',
  summary: 'A confirmed file, by the link of a list of evidence',
  tag: DISPUTES,
  principal: 'public',
  params,
  query: { token: TOKEN },
  responses: { 200: { kind: 'bytes', description: 'The file, to be saved.', contentTypes: EVIDENCE_TYPES } },
  errors: ['not_found', 'invalid_signature', 'EVIDENCE_SIZE_MISMATCH'],
  handle: async ({ params: { id }, query: { token }, services }) => {
    const shown = await services.showEvidence(id, token);
    if (isRejection(shown))
      return shown.code === 'rate_limited' ? { ...shown, headers: { 'Retry-After': RETRY_AFTER_SECONDS } } : shown;
    const { fileName, size, ...sent } = shown;
    const headers = {
      ...HARMLESS,
      'Content-Disposition': attachment(fileName),
      'Content-Length': String(size),
    };
    return { status: 200, headers, ...sent };
  },
});

export const EVIDENCE_FILE_ROUTES: readonly Route[] = [receiveRoute, showRoute];
