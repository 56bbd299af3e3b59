// The files of a case, and the form that sends more of them.
import { evidenceOf } from '../../../../application/disputes/evidence.ts';
import { EVIDENCE_MAX } from '../../../../domain/dispute/evidence.ts';
import { EVIDENCE_TYPES } from '../../../../domain/dispute/evidenceFile.ts';
import { isUnderWay, type MedCase } from '../../../../domain/dispute/medCase.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import type { Reader } from '../page.ts';
import { tableOf } from '../tables.ts';

const KILOBYTES: { readonly [L in Reader['language']]: Intl.NumberFormat } = {
  pt: new Intl.NumberFormat('pt-BR', { maximumFractionDigits: 0 }),
  en: new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 }),
};

const list = async (found: MedCase, { texts, language, services, tenant }: Reader): Promise<Markup> => {
  const { disputes: words } = texts;
  const files = await Promise.all(
    evidenceOf(found).map(async (file) => ({ ...file, url: await services.evidenceUrl(tenant, file) })),
  );
  if (files.length === 0) return html`<p class="empty">${words.noEvidence}</p>`;
  const rows = files.map(
    ({ fileName, fileSize, at, url }) =>
      html`<tr><th scope="row" class="wide"><a href="${url}" target="_blank" rel="noopener"><bdi>${fileName}</bdi></a><br>
<span class="muted small">${instant(at, language)}</span></th><td>${KILOBYTES[language].format(Math.ceil(fileSize / 1_000))} kB</td></tr>`,
  );
  return html`${tableOf(words.evidence, [words.file, words.size], rows)}<p class="muted small">${words.linksExpire}</p>`;
};

/** Returns the form, or the reason why no file can be sent now. The token precedes the files, so that it is checked first. */
const sending = (found: MedCase, { texts, mayChange, csrf, to }: Reader): Markup => {
  const { uploads: words, payment } = texts;
  const because = (why: string): Markup => html`<p class="muted">${why}</p>`;
  if (!mayChange) return because(payment.mayNot);
  if (!isUnderWay(found)) return because(words.ended);
  if (found.evidence.length >= EVIDENCE_MAX) return because(words.full(EVIDENCE_MAX));
  return html`<form method="post" enctype="multipart/form-data" class="action" action="${to(`/disputes/${found.terms.caseId}/evidence`)}" data-upload>${csrf}
<label class="drop">${words.files}<input type="file" name="files" multiple required accept="${EVIDENCE_TYPES.join(',')}"><span class="muted small">${words.filesHint}</span></label>
<progress max="1" value="0" aria-label="${words.progress}" hidden></progress><p data-cut="${words.cut}" class="notice bad" role="alert" hidden></p>
<button>${words.send}</button></form>`;
};

export const evidencePanel = async (found: MedCase, reader: Reader): Promise<Markup> =>
  html`<section class="panel"><h2>${reader.texts.disputes.evidence}</h2>${await list(found, reader)}${sending(found, reader)}</section>`;
