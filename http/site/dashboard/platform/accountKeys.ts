// The API keys of an account, on its page for operators: issue, rotate, revoke.
import { type AccountId, type KeyId, PREFIX } from '../../../../domain/kernel/ids.ts';
import type { ApiKey } from '../../../../domain/keyring/keyring.ts';
import { html, type Markup } from '../../html.ts';
import { labelInput } from '../developers/keys.ts';
import { keyField, seenField } from '../edit.ts';
import { instant } from '../format.ts';
import { confirmed } from '../secret.ts';
import type { Operator } from './page.ts';
import { choice, listOf, pager } from './parts.ts';

/** Keys shown at once, the newest first, so that the page stays below 60 kB. */
const LISTED = 15;

const row = (key: ApiKey, lastUsed: string | null, path: string, operator: Operator): Markup => {
  const { texts, language } = operator;
  const { developers: words } = texts;
  const { keyId, prefix, label, mode, issuedAt } = key;
  const at = `${path}/${PREFIX.key}${keyId}`;
  return html`<tr><th scope="row" class="wide"><code>${prefix}…</code><br><span class="muted small">${label ?? texts.none}</span></th><td>${texts.mode[mode]}</td><td>${instant(issuedAt, language)}</td>
<td>${instant(lastUsed, language)}</td><td>${confirmed(words.rotate, words.rotateLead, `${at}/rotate`, operator, seenField(prefix))}${confirmed(words.revoke, words.revokeLead, `${at}/revoke`, operator)}</td></tr>`;
};

/** What a rejected form sent. */
export interface TypedKey {
  readonly label?: string;
  readonly key?: string | null;
}

/** `path`: the account's page. `after`: the last key of the previous page. */
export const keysPanel = async (
  accountId: AccountId,
  path: string,
  after: KeyId | null,
  { label = '', key = null }: TypedKey,
  operator: Operator,
): Promise<Markup> => {
  const { texts, services, platform, csrf } = operator;
  const { developers: words, platform: others, mode } = texts;
  const keys = (await services.listApiKeys(accountId)).toReversed();
  const begin = keys.findIndex(({ keyId }) => keyId === after) + 1;
  const shown = keys.slice(begin, begin + LISTED);
  const last = begin + LISTED < keys.length ? shown.at(-1) : undefined;
  const lastUsed = await platform.lastKeyUses(shown.map(({ keyId }) => keyId));
  const rows = shown.map((key) => row(key, lastUsed.get(key.keyId) ?? null, `${path}/keys`, operator));
  const heads = [words.key, mode.label, words.issuedAt, others.accounts.lastUsed, texts.payment.actions];
  const modes = [
    ['test', mode.test],
    ['live', mode.live],
  ] as const;
  const next = last === undefined ? null : PREFIX.key + last.keyId;
  return html`<section class="panel"><h2>${words.keys}</h2>${listOf(words.keys, heads, rows, others.accounts.noKeys, rows.length, operator)}
${pager(path, 'keysAfter', begin === 0, next, operator)}
<details><summary>${words.issue}</summary><form method="post" action="${path}/keys" class="stack narrow">${csrf}${keyField(key)}
${choice('mode', mode.label, modes, 'test')}${labelInput(label, operator)}<p><button>${words.issueButton}</button></p></form></details></section>`;
};
