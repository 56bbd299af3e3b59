// Routes that request, confirm and list uploads of evidence in dispute cases (contract.md Dispute case, rule Q6).

import type { Static } from 'typebox';
import { evidenceOf } from '../../../application/disputes/evidence.ts';
import { NO_CASE } from '../../../domain/dispute/decisions.ts';
import { FILE_NAME_RULE, fitsType, isFileName, NO_EVIDENCE } from '../../../domain/dispute/evidenceFile.ts';
import type { Evidence } from '../../../domain/dispute/medCase.ts';
import { type EvidenceId, PREFIX, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { evidenceUploadView, evidenceView } from '../../../domain/presentation/evidence.ts';
import {
  actorOf,
  type Frozen,
  json,
  jsonBody,
  type KeyContext,
  pathParam,
  type Route,
  route,
} from '../../kernel/route.ts';
import { assertShownCase } from '../../kernel/upToDate.ts';
import { ON_DISPUTES } from './caseSchema.ts';
import { CASE_PATHS, type CasePaths, caseParam } from './cases.ts';
import { evidenceListSchema, evidenceSchema, grantBody, uploadSchema } from './evidenceSchema.ts';

/** The path parameter of an evidence file. */
export const evidenceParam = pathParam(
  'The `mev_` id of the evidence.',
  (text) => parsePrefixedId<EvidenceId>(text, PREFIX.evidence) ?? NO_EVIDENCE,
);

const shown = async ({ services, caller }: Pick<KeyContext, 'services' | 'caller'>, file: Evidence) =>
  evidenceView(file, await services.evidenceUrl(caller.tenant, file));

const listRoute = ({ path, named }: CasePaths): Route =>
  route('GET', `${path}/{id}/evidence`, {
    ...named(
      'listMedCaseEvidence',
      'List the evidence of a case',
      'Returns the confirmed files of a case, newest first. Each `view_url` is valid for 5 minutes. Unconfirmed uploads are not listed.',
    ),
    ...ON_DISPUTES,
    params: caseParam,
    reads: ['disputes'],
    responses: { 200: json('The evidence.', evidenceListSchema) },
    handle: async (context) => {
      const { caller, params, services } = context;
      assertShownCase(context, params.id);
      const found = await services.views.cases.find(caller.tenant, params.id);
      if (found === null) return NO_CASE;
      const data = await Promise.all(evidenceOf(found).map((file) => shown(context, file)));
      return { status: 200, body: { object: 'list' as const, data } };
    },
  });

const CODES = {
  file_name: 'invalid_file_name',
  file_size: 'invalid_file_size',
  mime_type: 'invalid_mime_type',
} as const;

const fileProblems = ({ file_name: name, mime_type: type }: Partial<Frozen<Static<typeof grantBody>>>) => {
  if (name === undefined) return [];
  const problem = (message: string) => [{ code: CODES.file_name, param: 'file_name', message }];
  if (!isFileName(name)) return problem(FILE_NAME_RULE);
  return type === undefined || fitsType(name, type) ? [] : problem(`has an extension that doesn’t match ${type}`);
};

const grantRoute = ({ path, named }: CasePaths): Route =>
  route('POST', `${path}/{id}/evidence`, {
    ...named(
      'grantMedCaseEvidence',
      'Request an upload of evidence',
      'Returns a signed upload URL for one file. Send the file by PUT with the returned headers within 15 minutes, then call `completeMedCaseEvidence`.',
    ),
    ...ON_DISPUTES,
    params: caseParam,
    body: jsonBody({ schema: grantBody, codes: CODES, refine: fileProblems }),
    responses: { 201: json('The upload URL and its required headers.', uploadSchema) },
    errors: ['case_not_open', 'evidence_limit_reached', 'upload_limit_reached'],
    handle: async (context) => {
      const { body, caller, params, services } = context;
      const file = { fileName: body.file_name, fileSize: body.file_size, mimeType: body.mime_type };
      const done = await services.grantUpload(caller.tenant, params.id, file);
      if (isRejection(done)) {
        if (!('retryAfterSeconds' in done)) return done;
        const { retryAfterSeconds, ...refusal } = done;
        return { ...refusal, headers: { 'Retry-After': String(retryAfterSeconds) } };
      }
      return { status: 201, body: evidenceUploadView(done.grant, done.url, done.expiresInSeconds) };
    },
  });

const completeRoute = ({ path, named }: CasePaths): Route =>
  route('POST', `${path}/{id}/evidence/{evidence_id}/complete`, {
    ...named(
      'completeMedCaseEvidence',
      'Confirm an uploaded file',
      'Checks an uploaded file and adds it to the case. A repeat returns the same evidence. If the file is not of its declared type, request a new upload.',
    ),
    ...ON_DISPUTES,
    params: { ...caseParam, evidence_id: evidenceParam },
    responses: { 200: json('The evidence.', evidenceSchema) },
    errors: [
      'case_not_open',
      'evidence_limit_reached',
      'EVIDENCE_NOT_UPLOADED',
      'EVIDENCE_SIZE_MISMATCH',
      'invalid_evidence',
    ],
    handle: async (context) => {
      const { caller, params, services } = context;
      const done = await services.completeUpload(caller.tenant, params.id, params.evidence_id, actorOf(context));
      return isRejection(done) ? done : { status: 200, body: await shown(context, done) };
    },
  });

export const EVIDENCE_ROUTES: readonly Route[] = CASE_PATHS.flatMap((paths) => [
  listRoute(paths),
  grantRoute(paths),
  completeRoute(paths),
]);
