// The forms of a provider connection's settings, and the conversion of their fields for the use cases.
import type { ConnectionChange } from '../../../../application/providers/manageConnections.ts';
import { ACCOUNT } from '../../../../domain/account/account.ts';
import { type AccountId, parsePrefixedId } from '../../../../domain/kernel/ids.ts';
import type { ConnectionView } from '../../../../domain/presentation/connection.ts';
import { wantedOf } from '../../../api/providers/operatorConnections.ts';
import type { Form } from '../../../kernel/forms.ts';
import { html, type Markup } from '../../html.ts';
import { type Edit, editOf } from '../edit.ts';
import { BLOCKS, CONNECTION_FIELDS, type ConnectionField, FLAGS, LINES } from './connectionFields.ts';
import type { Operator } from './page.ts';
import { field } from './parts.ts';

/** As typed. */
export type ConnectionFields = { readonly [Name in ConnectionField]?: string };

const ON = 'on';
/** Secrets are never shown again. */
const SECRET: readonly ConnectionField[] = ['clientSecret', 'privateKey'];

export const typedOf = (body: Form): ConnectionFields =>
  Object.fromEntries(CONNECTION_FIELDS.map((name) => [name, body.text(name)]));

/** Returns the form's values for a connection. */
export const fieldsOf = (view: ConnectionView): ConnectionFields => ({
  name: view.name,
  baseUrl: view.baseUrl,
  tokenUrl: view.tokenUrl,
  clientId: view.clientId,
  pixKey: view.pixKey,
  accountId: view.accountId ?? '',
  order: String(view.order),
  requireClientCertificate: view.requireClientCertificate ? ON : '',
  allowPrivate: view.allowPrivate ? ON : '',
});

const line = (name: ConnectionField, fields: ConnectionFields, { texts }: Operator): Markup => {
  const { connections } = texts.platform;
  return field(name, connections.fields[name], fields[name] ?? '', connections.hints[name] ?? null);
};
const block = (name: ConnectionField, fields: ConnectionFields, { texts }: Operator): Markup => {
  const { connections } = texts.platform;
  const shown = SECRET.includes(name) ? '' : (fields[name] ?? '');
  return html`<label>${connections.fields[name]}<textarea name="${name}" rows="3" autocomplete="off">${shown}</textarea></label>`;
};
const flag = (name: ConnectionField, fields: ConnectionFields, { texts }: Operator): Markup => {
  const words = texts.platform.connections.fields[name];
  return fields[name] === ON
    ? html`<label class="box"><input type="checkbox" name="${name}" value="${ON}" checked>${words}</label>`
    : html`<label class="box"><input type="checkbox" name="${name}" value="${ON}">${words}</label>`;
};

export const secretInput = ({ texts: { platform } }: Operator): Markup =>
  html`<label>${platform.connections.fields.clientSecret}<input name="clientSecret" type="password" autocomplete="off" required></label>`;

/** The inputs of a new connection, or of an existing one, which keeps its preset and client secret. */
export const connectionInputs = (fields: ConnectionFields, isNew: boolean, operator: Operator): Markup =>
  html`${isNew ? html`${line('preset', fields, operator)}${secretInput(operator)}` : null}${LINES.map((name) => line(name, fields, operator))}
${isNew ? null : html`<p class="muted">${operator.texts.platform.connections.certificateStays}</p>`}${BLOCKS.map((name) => block(name, fields, operator))}
${FLAGS.filter((name) => !isNew || !name.startsWith('no')).map((name) => flag(name, fields, operator))}`;

/** The name of a field with an invalid value. */
export interface Misread {
  readonly misread: ConnectionField;
}

/** null: all accounts. */
const accountIn = ({ accountId = '' }: ConnectionFields): AccountId | null | undefined =>
  accountId === '' ? null : (parsePrefixedId<AccountId>(accountId, ACCOUNT.idPrefix) ?? undefined);
const orderIn = ({ order = '' }: ConnectionFields): number | undefined =>
  order === '' ? 0 : /^\d{1,6}$/.test(order) ? Number(order) : undefined;

const textsOf = ({ name = '', baseUrl = '', tokenUrl = '', clientId = '', pixKey = '' }: ConnectionFields) => ({
  ...{ name, baseUrl, tokenUrl, clientId, pixKey },
});
const flagsOf = ({ requireClientCertificate, allowPrivate }: ConnectionFields) => ({
  requireClientCertificate: requireClientCertificate === ON,
  allowPrivate: allowPrivate === ON,
});

/** Returns the terms and secrets of a new connection. */
export const wishOf = (fields: ConnectionFields) => {
  const [accountId, order] = [accountIn(fields), orderIn(fields)];
  if (accountId === undefined) return { misread: 'accountId' } as const;
  if (order === undefined) return { misread: 'order' } as const;
  const { preset = '', clientSecret = '', certificate = '', privateKey = '', ca = '' } = fields;
  const terms = wantedOf({
    ...{ preset, clientSecret, order },
    ...textsOf(fields),
    ...flagsOf(fields),
    ...(certificate !== '' && { certificate }),
    ...(ca !== '' && { ca }),
    ...(accountId !== null && { accountId: ACCOUNT.idPrefix + accountId }),
  });
  return { terms, secrets: { clientSecret, privateKey: privateKey === '' ? null : privateKey } };
};

/** Returns what was edited on the form, and the certificates and keys that were entered. */
export const editedOf = (body: Form, view: ConnectionView): Edit<ConnectionField> => {
  const typed = typedOf(body);
  const { edited, contested } = editOf(body, typed, fieldsOf(view));
  const { certificate = '', privateKey = '', ca = '', noCertificate = '', noCa = '' } = typed;
  return { edited: { ...edited, certificate, privateKey, ca, noCertificate, noCa }, contested };
};

/** Returns the change. Absent fields and an empty certificate stay as they are. */
export const changeOf = (edited: ConnectionFields): ConnectionChange | Misread => {
  const [accountId, order] = [accountIn(edited), orderIn(edited)];
  if (accountId === undefined) return { misread: 'accountId' };
  if (order === undefined) return { misread: 'order' };
  const all = { accountId, order, ...textsOf(edited), ...flagsOf(edited) };
  const { certificate = '', privateKey = '', ca = '', noCertificate, noCa } = edited;
  return {
    ...Object.fromEntries(Object.entries(all).filter(([name]) => edited[name as ConnectionField] !== undefined)),
    ...(noCertificate === ON ? { certificate: null } : certificate !== '' && { certificate }),
    ...(noCa === ON ? { ca: null } : ca !== '' && { ca }),
    ...(privateKey !== '' && { privateKey }),
  };
};
