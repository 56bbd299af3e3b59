// Upload and download of evidence files at signed URLs, which need no other credentials (rule Q6).

import { EVIDENCE_BYTES_MAX, EVIDENCE_TYPES } from '../../../domain/dispute/evidenceFile.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { type QueryRule, type Route, route } from '../../kernel/route.ts';
import { DISPUTES } from './caseSchema.ts';
import { evidenceParam } from './evidence.ts';

const params = { id: evidenceParam } as const;

const TOKEN: QueryRule<string, string> = {
  description: 'The credential in the signed URL.',
  expects: 'the token of the URL',
  schema: { type: 'string' },
  parse: (text) => text,
  fallback: '',
  code: 'invalid_signature',
};

const receiveRoute = route('PUT', '/evidence/{id}', {
  operationId: 'receiveEvidence',
  summary: 'Upload an evidence file once, with the granted type and size',
  tag: DISPUTES,
  principal: 'public',
  params,
  query: { token: TOKEN },
  body: { kind: 'stream', contentTypes: null, bytesMax: EVIDENCE_BYTES_MAX },
  responses: { 200: { kind: 'empty', description: 'The file is stored. `ETag` is its SHA-256.' } },
  errors: ['invalid_signature', 'upload_in_progress', 'upload_too_slow'],
  handle: async ({ params: { id: evidenceId }, query: { token }, body, services }) => {
    const { contentType, size } = body;
    const stored = await services.receiveEvidence({ evidenceId, token, contentType, size, body });
    return isRejection(stored) ? stored : { status: 200, headers: { ETag: `"${stored.sha256}"` } };
  },
});

/** The time after which a rejected download may find a free slot. */
const RETRY_AFTER_SECONDS = '5';

/** Headers with which a browser saves the file and never runs or embeds it. */
const HARMLESS = {
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'private, no-store',
} as const;

/** Returns a Content-Disposition (RFC 6266) with the file name in UTF-8, and in ASCII for old clients. */
const attachment = (fileName: string): string => {
  const plain = fileName.replaceAll(/[^ !#$&'()+,\-.0-9;=@A-Z[\]^_`a-z{}~]/g, '_');
  const encoded = encodeURIComponent(fileName.toWellFormed()).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
};

const showRoute = route('GET', '/evidence/{id}', {
  operationId: 'showEvidence',
  summary: 'Download a confirmed evidence file by its `view_url`',
  tag: DISPUTES,
  principal: 'public',
  params,
  query: { token: TOKEN },
  responses: { 200: { kind: 'bytes', description: 'The file as a download.', contentTypes: EVIDENCE_TYPES } },
  errors: ['invalid_signature', 'EVIDENCE_SIZE_MISMATCH'],
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
