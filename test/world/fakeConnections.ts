// Connections in memory, each in front of a FakeProvider. They read callbacks in the standard's form.

import type { PayoutRail } from '../../application/ports/payoutRail.ts';
import type {
  CheckStep,
  OpenConnection,
  ProviderStatement,
  ReadCallback,
} from '../../application/ports/providerConnections.ts';
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import type { ConnectionTerms } from '../../domain/providerConnection/connection.ts';
import { FakeProvider, received } from './fakeProvider.ts';

export const connectionTerms = (connectionId: ConnectionId, over: Partial<ConnectionTerms> = {}): ConnectionTerms => ({
  connectionId,
  kind: 'pix',
  preset: 'generic',
  name: 'Banco Fictício',
  baseUrl: 'https://bank.example',
  tokenUrl: 'https://bank.example/token',
  clientId: 'quita',
  pixKey: 'pix@quita.example',
  certificate: null,
  ca: null,
  accountId: null,
  methods: ['PIX'],
  order: 1,
  requireClientCertificate: false,
  allowPrivate: false,
  ...over,
});

interface WirePix {
  readonly endToEndId: string;
  readonly txid?: string;
}

export class FakeConnection implements OpenConnection {
  readonly terms: ConnectionTerms;
  readonly provider = new FakeProvider();
  rail: PayoutRail | null = null;
  readonly certificateExpiresAt = null;
  webhook: string | null = null;

  constructor(terms: ConnectionTerms) {
    this.terms = terms;
    this.provider.connectionId = terms.connectionId;
  }

  readonly statement: ProviderStatement = {
    listReceived: async (from, to) => {
      const all = [...this.provider.incomingPayments].flatMap(([txid, some]) => some.map((one) => received(txid, one)));
      const items = all.filter(({ incoming: { paidAt } }) => from <= paidAt && paidAt <= to);
      return { kind: 'known', value: { items, unreadable: [], next: null } };
    },
  };

  /** Throws for a body that contains `poison`, like a faulty adapter. */
  readCallback(raw: string): ReadCallback {
    if (raw.includes('poison')) throw new Error('poison');
    let body: { readonly pix?: readonly WirePix[]; readonly sent?: readonly string[] };
    try {
      body = JSON.parse(raw);
    } catch {
      return 'notUnderstood';
    }
    const { pix = [], sent = [] } = body;
    if (pix.length + sent.length === 0) return 'testCall';
    return [
      ...pix.map(({ endToEndId, txid }) => ({ kind: 'received' as const, endToEndId, txid: txid ?? null })),
      ...sent.map((id) => ({ kind: 'sent' as const, id })),
    ];
  }
  async registerWebhook(callbackUrl: string): Promise<void> {
    this.webhook = callbackUrl;
  }
  async registeredWebhook(): Promise<string | null> {
    return this.webhook;
  }
  async *check(): AsyncGenerator<CheckStep> {}
  readonly circuit = () => 'closed' as const;
  close(): void {}
}
