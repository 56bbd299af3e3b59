// Reads callbacks: `{"pix": […]}` with received and sent Pix. A callback is only a reason to ask.
import type { CallbackHint, ReadCallback } from '../../../application/ports/providerConnections.ts';
import { at, isObject, listOf, parseJson, textAt } from './reading.ts';
import { isReadEndToEndId, isReadTxid } from './wire.ts';

const SEND_ID = /^[a-zA-Z0-9]{1,35}$/;

/** Efí announces sent Pix to the same URL, with `gnExtras.idEnvio` (page webhooks of its documentation). */
const hintOf = (item: unknown): CallbackHint | null => {
  const id = textAt(item, 'gnExtras', 'idEnvio') ?? textAt(item, 'idEnvio');
  if (id !== null) return SEND_ID.test(id) ? { kind: 'sent', id } : null;
  const endToEndId = textAt(item, 'endToEndId');
  const txid = textAt(item, 'txid');
  if (endToEndId === null || !isReadEndToEndId(endToEndId)) return null;
  return { kind: 'received', endToEndId, txid: txid !== null && isReadTxid(txid) ? txid : null };
};

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;

/** Reads a raw callback. If a part of a batch is not understood, the rest still gives its hints. */
export const readCallback = (raw: string): ReadCallback => {
  if (raw.trim() === '') return 'testCall';
  const body = parseJson(raw);
  if (!isObject(body)) return 'notUnderstood';
  if (!Object.hasOwn(body, 'pix')) return Object.values(body).every(isScalar) ? 'testCall' : 'notUnderstood';
  const hints = (listOf(at(body, 'pix')) ?? []).map(hintOf).filter((hint) => hint !== null);
  return hints.length > 0 ? hints : 'notUnderstood';
};
