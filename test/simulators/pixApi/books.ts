// The institution’s books, in memory. Amounts are integers of centavos. Times are milliseconds since 1970 on the institution’s clock.
import { ByTime } from './byTime.ts';

export interface ClientSpec {
  readonly clientId: string;
  readonly clientSecret: string;
  /** The first key is the default. Charges may use any of them. */
  readonly pixKeys: readonly string[];
  readonly scopes: readonly string[];
  readonly name: string;
  readonly city: string;
  /** CNPJ. */
  readonly document: string;
  readonly openingBalance: number;
}

export interface Person {
  readonly name: string;
  /** CPF or CNPJ without punctuation. */
  readonly document: string;
}

export type ChargeStatus = 'ATIVA' | 'CONCLUIDA' | 'REMOVIDA_PELO_USUARIO_RECEBEDOR' | 'REMOVIDA_PELO_PSP';

/** The terms of a charge that a client may change. Each change makes a revision. */
export interface Terms {
  readonly lifetimeSeconds: number;
  readonly debtor: Person | null;
  readonly amount: number;
  readonly key: string;
  readonly note: string | null;
  readonly info: readonly { readonly nome: string; readonly valor: string }[] | null;
  readonly status: ChargeStatus;
}

export interface Charge {
  readonly txid: string;
  readonly createdAt: number;
  readonly locationId: number;
  readonly location: string;
  /** The index in this list is the revision number. */
  readonly history: Terms[];
  readonly received: Received[];
}

export type Nature = 'ORIGINAL' | 'RETIRADA' | 'MED_OPERACIONAL' | 'MED_FRAUDE' | 'MED_PIX_AUTOMATICO';
export const NATURES: readonly Nature[] = [
  'ORIGINAL',
  'RETIRADA',
  'MED_OPERACIONAL',
  'MED_FRAUDE',
  'MED_PIX_AUTOMATICO',
];

export interface Return {
  readonly id: string;
  readonly returnId: string;
  readonly amount: number;
  readonly nature: Nature;
  readonly note: string | null;
  readonly requestedAt: number;
  /** Whether the institution made the return, not its client. */
  readonly isForeign: boolean;
  status: 'EM_PROCESSAMENTO' | 'DEVOLVIDO' | 'NAO_REALIZADO';
  settledAt: number | null;
  reason: string | null;
}

export interface Received {
  readonly endToEndId: string;
  readonly txid: string | null;
  readonly key: string;
  readonly amount: number;
  /** The part of the amount that the payer withdrew in cash. */
  readonly withdrawal: number;
  readonly at: number;
  readonly payer: Person;
  readonly note: string | null;
  /** Overrides the setting `payer`. */
  readonly showPayer: 'none' | 'full' | 'masked' | null;
  readonly returns: Return[];
}

export interface Sent {
  /** The `idEnvio` that the client chose. */
  readonly id: string;
  readonly endToEndId: string;
  readonly amount: number;
  readonly fromKey: string;
  readonly toKey: string;
  readonly note: string | null;
  readonly at: number;
  status: 'EM_PROCESSAMENTO' | 'REALIZADO' | 'NAO_REALIZADO';
  settledAt: number | null;
  reason: string | null;
}

export interface Webhook {
  readonly key: string;
  readonly url: string;
  readonly createdAt: number;
}

/** One line of the account’s statement. Debits are negative. */
export interface Entry {
  readonly at: number;
  readonly kind: 'received' | 'returned' | 'paidOut' | 'fee';
  readonly amount: number;
  readonly endToEndId: string;
}

/** Holds everything that belongs to one client. */
export class Account {
  readonly client: ClientSpec;
  readonly charges = new Map<string, Charge>();
  readonly chargesByTime = new ByTime<Charge>((charge) => charge.createdAt);
  readonly received = new Map<string, Received>();
  readonly receivedByTime = new ByTime<Received>((received) => received.at);
  readonly sent = new Map<string, Sent>();
  readonly sentByTime = new ByTime<Sent>((sent) => sent.at);
  readonly webhooks = new Map<string, Webhook>();
  readonly entries = new ByTime<Entry>((entry) => entry.at);

  constructor(client: ClientSpec) {
    this.client = client;
  }

  book(entry: Entry): void {
    if (entry.amount !== 0) this.entries.add(entry);
  }
}

export const termsOf = (charge: Charge): Terms => charge.history.at(-1) as Terms;

/** Payments and removals change the status without a new revision. Only changes by the client make one. */
export const setStatus = (charge: Charge, status: ChargeStatus): void => {
  charge.history[charge.history.length - 1] = { ...termsOf(charge), status };
};

/** Returns the sum of all returns that are done or in progress, in centavos. */
export const returnedOf = (received: Received): number =>
  received.returns.reduce((sum, { status, amount }) => (status === 'NAO_REALIZADO' ? sum : sum + amount), 0);
