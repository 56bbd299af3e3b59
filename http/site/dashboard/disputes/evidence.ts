// Sends files of evidence by a plain form, through the same grants, limits and checks as the API (rules Q6, E9).

import { NO_CASE } from '../../../../domain/dispute/decisions.ts';
import { EVIDENCE_MAX } from '../../../../domain/dispute/evidence.ts';
import { EVIDENCE_BYTES_MAX } from '../../../../domain/dispute/evidenceFile.ts';
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import { skipRest } from '../../../kernel/fileForm.ts';
import { FORM_BYTES_MAX } from '../../../kernel/forms.ts';
import { route } from '../../../kernel/route.ts';
import { ofMember, PAGE, pageQuery, REDIRECT, readerOf, redirect, shownPage, unlessReader } from '../page.ts';
import { refusalText } from '../texts/refusals.ts';
import { casePage, oneCase } from './one.ts';

export const sendEvidenceRoute = route('POST', '/dashboard/{mode}/disputes/{id}/evidence', {
  ...ofMember,
  operationId: 'sendEvidenceFromPage',
  summary: 'Send files of evidence',
  params: oneCase,
  query: pageQuery,
  refusalOf: unlessReader,
  body: { kind: 'files', bytesMax: EVIDENCE_MAX * EVIDENCE_BYTES_MAX + FORM_BYTES_MAX },
  responses: { 303: REDIRECT, 422: PAGE },
  errors: ['upload_too_slow'],
  handle: async (context) => {
    const reader = readerOf(context);
    const { services, tenant, actor, texts, language, to } = reader;
    const { params, body } = context;
    const outcomes = await services.uploadFromForm(tenant, params.id, body.files, actor);
    await skipRest(body);
    const found = await services.views.cases.find(tenant, params.id);
    if (found === null) return NO_CASE;
    const again = async (problem: string) =>
      shownPage(422, context, reader, { ...(await casePage(found, reader)), problem });
    if (isRejection(outcomes)) return again(refusalText(outcomes, language));
    if (outcomes.length === 0) return again(texts.uploads.none);
    const refused = outcomes.flatMap(({ fileName, outcome }) =>
      isRejection(outcome) ? [`${fileName}: ${refusalText(outcome, language)}`] : [],
    );
    if (refused.length === 0) return redirect(to(`/disputes/${params.id}`), 'evidenceSent');
    return again([texts.uploads.refused(refused.length, outcomes.length), ...refused].join('\n'));
  },
});
