// /dashboard/platform/audit: whether the audit log follows the event log and reaches anchors and witnesses; auditors' tokens and exports.
import type { AuditStatus } from '../../../../../application/audit/operateAudit.ts';
import type { AuditToken } from '../../../../../application/ports/auditAccess.ts';
import { isRejection, SECRET_MADE_BEFORE } from '../../../../../domain/kernel/rejection.ts';
import { auditTokenParam } from '../../../../api/audit/operatorAudit.ts';
import { PLATFORM_PAGES } from '../../../../kernel/callers.ts';
import { route } from '../../../../kernel/route.ts';
import { html, type Markup } from '../../../html.ts';
import { keyField, keyIn, seenField, seenIn } from '../../edit.ts';
import { instant } from '../../format.ts';
import type { Content } from '../../page.ts';
import { badge, fact } from '../../parts.ts';
import { confirmed, shownOnce } from '../../secret.ts';
import { tableOf } from '../../tables.ts';
import { acted, acting, answering, said, showing, shown, shownAgain } from '../acting.ts';
import { type Operator, operatorOf, shownToOperator } from '../page.ts';
import { listOf } from '../parts.ts';
import { durationText } from './parts.ts';

const SECTION = '/audit';
/** A lag that shows that no worker seals. */
const LAG_SECONDS_MAX = 60;

const sealing = ({ stopped, lagSeconds }: AuditStatus, { texts, language }: Operator): Markup => {
  const { audit, system } = texts.operations;
  if (stopped !== null) return html`${badge(system.bad, 'bad')} <span lang="en">${audit.stopped(stopped)}</span>`;
  if (lagSeconds === null) return html`${badge(system.bad, 'bad')} ${audit.unknownLag}`;
  if (lagSeconds === 0) return badge(texts.operations.readModels.caughtUp, 'good');
  const isGood = lagSeconds <= LAG_SECONDS_MAX;
  const says = isGood ? system.good : system.bad;
  return html`${badge(says, isGood ? 'good' : 'bad')} ${audit.lag(durationText(lagSeconds, language))}`;
};

const logPanel = (status: AuditStatus, operator: Operator): Markup => {
  const { texts, language } = operator;
  const { audit } = texts.operations;
  const { origin, size, root, checkpoint } = status;
  const signed =
    checkpoint &&
    html`${audit.entries(checkpoint.size)}<br><span class="muted">${audit.signedAt} ${instant(checkpoint.signedAt, language)}<br>${audit.signedBy}</span>
${checkpoint.signedBy === null ? audit.unknownKey : html`<code>${checkpoint.signedBy}</code>`}`;
  return html`<section class="panel"><h2>${audit.log}</h2><dl>${fact(audit.sealing, sealing(status, operator))}
${fact(audit.checkpoint, signed ?? audit.noCheckpoint)}${fact(audit.size, String(size))}
${fact(audit.log, html`<code>${origin}</code>`)}${fact(audit.root, html`<code>${root}</code>`)}</dl></section>`;
};

const anchorsPanel = ({ anchors }: AuditStatus, operator: Operator): Markup => {
  const { texts, language } = operator;
  const { audit, error: errorText } = texts.operations;
  const rows = anchors.map(
    ({ anchor, size, sentAt, failures, retryAt, error }) =>
      html`<tr><th scope="row" class="wide">${anchor}</th><td>${size}</td><td>${instant(sentAt, language)}</td><td>${failures === 0 ? html`0` : badge(String(failures), 'bad')}</td>
<td>${instant(retryAt, language)}</td><td class="wide" lang="en">${error ?? texts.none}</td></tr>`,
  );
  const heads = [audit.anchor, audit.size, audit.sentAt, audit.failures, audit.retryAt, errorText];
  return html`<section class="panel"><h2>${audit.anchors}</h2>${listOf(audit.anchors, heads, rows, audit.noAnchors, rows.length, operator)}</section>`;
};

const witnessesPanel = ({ witnesses }: AuditStatus, operator: Operator): Markup => {
  const { texts, language } = operator;
  const { audit } = texts.operations;
  const rows = witnesses.map(
    ({ witness, size, receivedAt }) =>
      html`<tr><th scope="row" class="wide">${witness}</th><td>${size === null ? texts.none : audit.entries(size)}</td><td>${instant(receivedAt, language)}</td></tr>`,
  );
  const heads = [audit.witness, audit.cosigned, audit.receivedAt];
  return html`<section class="panel"><h2>${audit.witnesses}</h2>${listOf(audit.witnesses, heads, rows, audit.noWitnesses, rows.length, operator)}</section>`;
};

const keysPanel = ({ keys }: AuditStatus, operator: Operator): Markup => {
  const { texts, language, to } = operator;
  const { audit } = texts.operations;
  const rows = keys.map(
    ({ vkey, from, until }) =>
      html`<tr><th scope="row" class="wide"><code>${vkey}</code></th><td>${instant(from, language)}</td><td>${instant(until, language)}</td></tr>`,
  );
  return html`<section class="panel"><h2>${audit.keys}</h2>${tableOf(audit.keys, [audit.key, audit.from, audit.until], rows)}
${confirmed(audit.rotate, audit.rotateLead, to(`${SECTION}/rotate-key`), operator, seenField(String(keys.length)))}</section>`;
};

const tokensPanel = (tokens: readonly AuditToken[], operator: Operator): Markup => {
  const { texts, language, csrf, to } = operator;
  const { audit } = texts.operations;
  const revoke = ({ id, revokedAt }: AuditToken): Markup =>
    revokedAt === null
      ? html`<form method="post" action="${to(`${SECTION}/tokens/${id}/revoke`)}">${csrf}<button class="danger">${audit.revoke}</button></form>`
      : instant(revokedAt, language);
  const rows = tokens.map(
    (token) =>
      html`<tr><th scope="row" class="wide">${token.name}<br><code class="small">${token.id}</code></th><td>${instant(token.createdAt, language)}</td><td>${revoke(token)}</td></tr>`,
  );
  const heads = [audit.auditor, audit.issuedAt, audit.revokedAt];
  return html`<section class="panel"><h2>${audit.auditors}</h2><p class="muted">${audit.auditorsLead}</p>
${listOf(audit.auditors, heads, rows, audit.noAuditors, rows.length, operator)}
<form method="post" class="filters" action="${to(`${SECTION}/tokens`)}">${csrf}${keyField()}
<label class="wide">${audit.auditor}<input name="name" maxlength="100" required></label><button class="second">${audit.issue}</button></form></section>`;
};

const EXPORT_COMMANDS = `npm run cli -- audit export --from 2026-10-01 --to 2026-11-01 --out october
npm run cli -- audit verify october`;

const exportPanel = ({ texts }: Operator): Markup => {
  const { audit } = texts.operations;
  return html`<section class="panel"><h2>${audit.exporting}</h2><p class="muted">${audit.exportLead}</p><pre tabindex="0">${EXPORT_COMMANDS}</pre></section>`;
};

const contentOf = async (operator: Operator, above: Markup | null = null): Promise<Content> => {
  const { platform, texts } = operator;
  const [status, tokens] = [await platform.auditStatus(), await platform.listAuditTokens()];
  return {
    title: texts.platform.sections.audit,
    section: SECTION,
    main: html`${above}${logPanel(status, operator)}${anchorsPanel(status, operator)}${witnessesPanel(status, operator)}
${keysPanel(status, operator)}${tokensPanel(tokens, operator)}${exportPanel(operator)}`,
  };
};

const auditRoute = route('GET', `${PLATFORM_PAGES}/audit`, {
  ...showing,
  operationId: 'showAuditLog',
  summary: 'Show the state of the audit log',
  handle: (context) => shown(context, contentOf),
});

const rotateRoute = route('POST', `${PLATFORM_PAGES}/audit/rotate-key`, {
  ...acting,
  operationId: 'rotateAuditKeyFromPage',
  summary: 'Rotate the key of the audit log',
  handle: (context) => {
    const seen = seenIn(context.body);
    const act = ({ platform }: Operator) => platform.rotateAuditKey(seen === null ? null : Number(seen));
    return acted(context, { act, done: 'auditKeyRotated', place: SECTION, page: contentOf });
  },
});

const issueRoute = route('POST', `${PLATFORM_PAGES}/audit/tokens`, {
  ...answering,
  operationId: 'issueAuditTokenFromPage',
  summary: 'Create an auditor’s token and show it once',
  handle: async (context) => {
    const operator = operatorOf(context);
    const { audit } = operator.texts.operations;
    const issued = await operator.platform.issueAuditToken(context.body.text('name'), keyIn(context.body));
    if (isRejection(issued)) {
      const refusal = issued === SECRET_MADE_BEFORE ? issued : said(audit.badName);
      return shownAgain(context, operator, contentOf, refusal);
    }
    const above = shownOnce(issued.token, audit.token, audit.tokenLead, operator);
    return shownToOperator(200, context, operator, await contentOf(operator, above));
  },
});

const revokeRoute = route('POST', `${PLATFORM_PAGES}/audit/tokens/{id}/revoke`, {
  ...acting,
  operationId: 'revokeAuditTokenFromPage',
  summary: 'Revoke an auditor’s token',
  params: auditTokenParam,
  handle: (context) => {
    const act = ({ platform }: Operator) => platform.revokeAuditToken(context.params.id);
    return acted(context, { act, done: 'auditTokenRevoked', place: SECTION, page: contentOf });
  },
});

export const AUDIT_PAGES = [auditRoute, rotateRoute, issueRoute, revokeRoute];
