// The audit log as c2sp.org/tlog-tiles defines it: checkpoint, hash tiles and entry bundles; cosignatures of witnesses; and the keys.

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { readTilePath, TILE_WIDTH } from '../../../application/audit/tiles.ts';
import { isRejection, type Rejection, reject } from '../../../domain/kernel/rejection.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { matching } from '../../kernel/query.ts';
import {
  type ArrivingBody,
  json,
  ok,
  type ParamRule,
  type Route,
  type RouteContext,
  route,
} from '../../kernel/route.ts';
import { keyPeriods } from './operatorAudit.ts';
import { AUDIT } from './tags.ts';

const NOTE = 'text/plain; charset=utf-8';
const BYTES = 'application/octet-stream';
const NONE_YET = reject('not_found', 'The log has no such checkpoint.');
const NO_TILE = reject('not_found', 'The log has no such tile.');
const NOTE_BYTES_MAX = 64 * 1_024;
const YEAR_SECONDS = 31_536_000;
const compressed = promisify(gzip);

const checkpointRoute = route('GET', '/audit/log/checkpoint', {
  operationId: 'getAuditCheckpoint',
  summary: 'Retrieve the latest checkpoint',
  tag: AUDIT,
  principal: 'auditor',
  query: {
    size: matching('Size of an earlier checkpoint that is still kept.', 'a whole number', (text) =>
      /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : undefined,
    ),
  },
  responses: {
    200: {
      kind: 'bytes',
      description: 'The checkpoint, with the cosignatures of witnesses.',
      contentTypes: ['text/plain'],
    },
  },
  errors: ['not_found'],
  handle: async ({ query, services: { auditLog } }) => {
    const note = await auditLog.checkpoint(query.size ?? null);
    if (note === null) return NONE_YET;
    return { status: 200, contentType: NOTE, bytes: note, headers: { 'Cache-Control': 'no-cache' } };
  },
});

const text = (description: string): ParamRule<string> => ({
  description,
  schema: { type: 'string' },
  parse: (value) => value,
});
const LEVEL = { level: text('The level of the tile, or `entries`.') };
const PARTS = ['a', 'b', 'c', 'd'] as const;

type Context = Pick<RouteContext<'auditor'>, 'services' | 'prefers'>;

const bytesOf = async (path: string, { auditLog }: Context['services']): Promise<Buffer | Rejection> => {
  const tile = readTilePath(path);
  if (tile === null) return NO_TILE;
  const { level, ...at } = tile;
  return (level === 'entries' ? await auditLog.entries(at) : await auditLog.tile({ level, ...at })) ?? NO_TILE;
};

/** A tile never changes. Shared caches may keep public files only. */
const cachingOf = (path: string, isPublic: boolean): string =>
  `${isPublic && !path.startsWith('tile/entries/') ? 'public' : 'private'}, max-age=${YEAR_SECONDS}, immutable`;

const answer = async (path: string, { services, prefers }: Context) => {
  const bytes = await bytesOf(path, services);
  if (isRejection(bytes)) return bytes;
  const headers = { 'Cache-Control': cachingOf(path, services.auditLog.isPublic) };
  // Hashes can't be compressed.
  const isSmaller = path.startsWith('tile/entries/') && prefers.encoding(['gzip', 'identity']) === 'gzip';
  if (!isSmaller) return { status: 200 as const, contentType: BYTES, bytes, headers };
  const more = { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' };
  return { status: 200 as const, contentType: BYTES, bytes: await compressed(bytes), headers: { ...headers, ...more } };
};

/** A tile's index takes 1 to 3 parts of the path. An incomplete tile adds its width as one more part. */
const tileRoute = (depth: 1 | 2 | 3 | 4): Route => {
  const parts = PARTS.slice(0, depth);
  const params = Object.fromEntries(parts.map((name) => [name, text('A part of the tile’s index, or its width.')]));
  return route('GET', `/audit/log/tile/{level}/${parts.map((name) => `{${name}}`).join('/')}`, {
    operationId: `getAuditTile${depth}`,
    summary: `Retrieve ${TILE_WIDTH} hashes or entries`,
    tag: AUDIT,
    principal: 'auditor',
    params: { ...LEVEL, ...params },
    responses: {
      200: { kind: 'bytes', description: 'The hashes, or the entries with their lengths.', contentTypes: [BYTES] },
    },
    errors: ['payload_too_large'],
    handle: (context) => {
      const given = context.params as { readonly [name: string]: string };
      return answer(`tile/${given['level']}/${parts.map((name) => given[name]).join('/')}`, context);
    },
  });
};

const textIn = async (body: ArrivingBody): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};

const cosignRoute = route('POST', '/audit/log/cosignatures', {
  operationId: 'cosignAuditCheckpoint',
  summary: 'Add the cosignature of a known witness to a checkpoint',
  tag: AUDIT,
  principal: 'public',
  limit: 'catalogue',
  body: { kind: 'stream', contentTypes: ['text/plain'], bytesMax: NOTE_BYTES_MAX },
  responses: { 200: json('The cosignatures are kept.', s.exactly({ witnesses: s.listOf(s.string()) })) },
  errors: ['unauthorized', 'not_found'],
  handle: async ({ body, services: { auditLog } }) => {
    return ok(await auditLog.cosign(await textIn(body)), (witnesses) => ({ witnesses }));
  },
});

const keysRoute = route('GET', '/.well-known/quita-audit.json', {
  operationId: 'getAuditKeys',
  summary: 'List the public keys of the audit log',
  tag: AUDIT,
  principal: 'public',
  limit: 'catalogue',
  responses: {
    200: json(
      'The keys, and where the log is.',
      s.exactly({
        origin: s.string(),
        log: s.string(),
        keys: keyPeriods,
      }),
    ),
  },
  handle: async ({ services: { auditLog } }) => ({ status: 200, body: await auditLog.keys() }),
});

export const AUDIT_LOG_ROUTES: readonly Route[] = [
  checkpointRoute,
  ...([1, 2, 3, 4] as const).map(tileRoute),
  cosignRoute,
  keysRoute,
];
