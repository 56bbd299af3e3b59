// Responses of payments, wallets, webhooks and the sandbox (contract.md Resources and their fields).
import { DELIVERY_STATUSES } from '../../domain/presentation/delivery.ts';
import { PUBLIC_STATUS_OF } from '../../domain/presentation/status.ts';
import {
  accepting,
  anyInteger,
  anyObject,
  boolean,
  exactly,
  id,
  integer,
  listOf,
  orNull,
  string,
  timestamp,
} from '../kernel/jsonSchema.ts';

const text = string();
const maybeText = orNull(text);
const maybeTime = orNull(timestamp);
const maybeInteger = orNull(anyInteger);

export const transactionSchema = exactly({
  id: id(''),
  status: { type: 'string', enum: Object.keys(PUBLIC_STATUS_OF) },
  amount: anyInteger,
  currency: text,
  paymentMethods: listOf(text),
  paidWith: maybeText,
  customerName: maybeText,
  customerDocument: maybeText,
  customerEmail: maybeText,
  metadata: anyObject,
  pixQrCode: maybeText,
  pixCopyPaste: maybeText,
  pixExpiresAt: maybeTime,
  cardRedirectUrl: maybeText,
  mbEntity: maybeText,
  mbReference: maybeText,
  mbExpiresAt: maybeTime,
  boletoBarcode: maybeText,
  boletoLine: maybeText,
  boletoPdfUrl: maybeText,
  boletoExpiresAt: maybeTime,
  cryptoAddress: maybeText,
  cryptoAmount: maybeText,
  cryptoNetwork: maybeText,
  cryptoCurrency: maybeText,
  providerFee: maybeInteger,
  platformFee: maybeInteger,
  netAmount: maybeInteger,
  createdAt: timestamp,
  paidAt: maybeTime,
});

const balanceEntry = exactly({ currency: text, available: anyInteger, pending: anyInteger, total: anyInteger });
export const balanceSchema = exactly(
  {
    available: anyInteger,
    pending: anyInteger,
    total: anyInteger,
    retained: anyInteger,
    currency: text,
    next_release_at: maybeTime,
    next_release_amount: maybeInteger,
    balances: listOf(balanceEntry),
    primary: balanceEntry,
  },
  ['total', 'retained', 'balances', 'primary'], // the flat shape of one currency has none of these
);
export const walletsSchema = listOf(
  exactly({ currency: text, walletType: text, balance: anyInteger, pendingBalance: anyInteger }),
);

export const registerEndpointBody = accepting(
  { url: string(2048, { minLength: 1 }), events: { type: 'array', items: string(64), minItems: 1, maxItems: 64 } },
  ['url', 'events'],
);
const endpoint = { id: id('we_'), url: text, events: listOf(text) };
const active = { type: 'string', enum: ['ACTIVE', 'INACTIVE'] } as const;
export const createdEndpointSchema = exactly({
  ...endpoint,
  secret: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  status: active,
});
export const endpointsSchema = exactly({
  data: listOf(exactly({ ...endpoint, status: active, createdAt: timestamp, updatedAt: timestamp })),
});
export const deletedSchema = exactly({ deleted: boolean });

const deliverySchema = exactly(
  {
    id: id('wd_'),
    endpointId: orNull(id('we_')),
    eventType: text,
    status: { type: 'string', enum: DELIVERY_STATUSES },
    attempts: anyInteger,
    maxAttempts: anyInteger,
    lastStatusCode: maybeInteger,
    lastError: maybeText,
    lastResponseBody: text,
    nextRetryAt: maybeTime,
    deliveredAt: maybeTime,
    createdAt: timestamp,
    updatedAt: timestamp,
    payload: anyObject,
  },
  ['lastResponseBody'],
);
export const deliveriesSchema = exactly({
  data: listOf(deliverySchema),
  total: anyInteger,
  limit: anyInteger,
  offset: anyInteger,
});
export const catalogueSchema = listOf(exactly({ event: text, description: text, legacy: boolean }, ['legacy']));

export const clockSchema = exactly({ now: timestamp, offset_seconds: anyInteger });
/** One year (rule X5). */
export const ADVANCE_SECONDS_MAX = 31_536_000;
export const advanceBody = accepting({ seconds: integer(1, ADVANCE_SECONDS_MAX) }, ['seconds']);
export const flushSchema = exactly({ pending: anyInteger });
