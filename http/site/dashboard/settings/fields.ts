// The fields of the settings' forms: how a person writes a setting, and its value for the use case.
import type { AccountSettings } from '../../../../domain/account/account.ts';
import { cashoutDestinations } from '../../../../domain/account/cashoutDestinations.ts';
import type { SettingsChange } from '../../../../domain/account/settings.ts';
import { payoutApprovalAbove, payoutCount, payoutSum } from '../../../../domain/payout/settings.ts';
import { centavosOf, formatAmount } from '../../../../domain/presentation/amount.ts';
import { refundVelocity } from '../../../../domain/refund/settings.ts';
import type { Form } from '../../../kernel/forms.ts';
import { type Edit, editOf } from '../edit.ts';
import type { Reader } from '../page.ts';
import { type Field, MANAGERS_FIELDS, OWNERS_FIELDS } from './fieldNames.ts';

/** As typed. */
export type Fields = { readonly [Name in Field]?: string };

/** Limits per hour and the guards of payouts are amounts of this currency on the page. */
const CURRENCY = 'BRL';
const ON = 'on';

const amountText = (value: number | null, { language }: Pick<Reader, 'language'>): string =>
  value === null ? '' : formatAmount(value, CURRENCY, language).replace(/^\S+ /, '');
const countText = (value: number | null): string => (value === null ? '' : String(value));

/** Returns the forms' values for the settings. */
export const fieldsOf = (settings: AccountSettings, reader: Pick<Reader, 'language'>): Fields => {
  const { countPerHour, sumPerHour } = refundVelocity.of(settings);
  const destinations = cashoutDestinations.of(settings);
  return {
    color: settings.color ?? '',
    chargeWindow: String(Math.round(settings.chargeWindowSeconds / 0.6) / 100),
    payoutApprovalAbove: amountText(payoutApprovalAbove.of(settings), reader),
    payoutSum: amountText(payoutSum.of(settings), reader),
    payoutCount: countText(payoutCount.of(settings)),
    refundSum: amountText(sumPerHour, reader),
    refundCount: countText(countPerHour),
    destinations: (destinations ?? []).join('\n'),
    anyDestination: destinations === null ? ON : '',
  };
};

/** The name of a field with an invalid value. */
export interface Misread {
  readonly misread: Field;
}

const amountOf = (text: string): number | null | undefined => {
  if (text === '') return null;
  return /^0+(?:[.,]0{1,2})?$/.test(text) ? 0 : (centavosOf(text) ?? undefined);
};
const countOf = (text: string): number | null | undefined =>
  text === '' ? null : /^\d{1,9}$/.test(text) ? Number(text) : undefined;
const minutesOf = (text: string): number | undefined =>
  /^\d{1,6}(?:[.,]\d{1,2})?$/.test(text) ? Math.round(Number(text.replace(',', '.')) * 60) : undefined;
const linesOf = (text: string): readonly string[] => text.split(/[\s,;]+/).filter((line) => line !== '');

/** Returns the fields that the form contains, as typed. */
const typed = (form: Form): Fields =>
  Object.fromEntries(
    [...MANAGERS_FIELDS, ...OWNERS_FIELDS].flatMap((name) =>
      form.all(name).length === 0 ? [] : [[name, form.text(name)]],
    ),
  );

/** The value of `destinations` that stands for any. It is not a Pix key. */
const ANY = '*';

/** Returns the values to compare. The two fields of the destinations are one setting, so they are one value. */
export const comparable = ({ anyDestination, ...fields }: Fields): Fields => {
  if (fields.destinations === undefined) return fields;
  return { ...fields, destinations: anyDestination === ON ? ANY : linesOf(fields.destinations).join('\n') };
};

/** Returns what was edited on the form. */
export const editedOf = (body: Form, settings: AccountSettings, reader: Pick<Reader, 'language'>): Edit<Field> => {
  const { edited, contested } = editOf(body, comparable(typed(body)), comparable(fieldsOf(settings, reader)));
  const { destinations } = edited;
  if (destinations === undefined) return { edited, contested };
  const both = destinations === ANY ? { destinations: '', anyDestination: ON } : { destinations, anyDestination: '' };
  return { edited: { ...edited, ...both }, contested };
};

/** Returns the change that the submitted fields request. Settings whose fields are absent stay unchanged. */
export const changeOf = (fields: Fields): SettingsChange | Misread => {
  const change: Record<string, unknown> = {};
  const refunds: Record<string, unknown> = {};
  const readers: { readonly [Name in Field]?: (text: string) => unknown } = {
    color: (text) => (change['color'] = text === '' ? null : text.toLowerCase()),
    chargeWindow: (text) => (change['chargeWindowSeconds'] = minutesOf(text)),
    payoutApprovalAbove: (text) => (change['payoutApprovalAbove'] = amountOf(text)),
    payoutSum: (text) => (change['payoutSum'] = amountOf(text)),
    payoutCount: (text) => (change['payoutCount'] = countOf(text)),
    refundSum: (text) => (refunds['sumPerHour'] = amountOf(text)),
    refundCount: (text) => (refunds['countPerHour'] = countOf(text)),
    destinations: (text) => (change['cashoutDestinations'] = fields.anyDestination === ON ? null : linesOf(text)),
  };
  for (const [name, read] of Object.entries(readers) as [Field, (text: string) => unknown][]) {
    const text = fields[name];
    if (text !== undefined && read(text) === undefined) return { misread: name };
  }
  return { ...change, ...(Object.keys(refunds).length > 0 && { refundVelocity: refunds }) } as SettingsChange;
};
