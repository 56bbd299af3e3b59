// Connections in memory, each in front of a FakeProvider. They read callbacks in the standard's form.

import type { PayoutRail } from '../../application/ports/payoutRail.ts';
import type { CallbackSecrets } from '../../application/ports/providerCallbacks.ts';
import type {
  CheckStep,
  OpenConnection,
  ProviderConnections,
  ProviderStatement,
  ReadCallback,
} from '../../application/ports/providerConnections.ts';
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import type { ConnectionStatus, ConnectionTerms } from '../../domain/providerConnection/connection.ts';
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
  status: ConnectionStatus = 'enabled';
  /** Those that open its callback URL; two after a rotation. */
  secrets: readonly string[];
  readonly certificateExpiresAt = null;
  webhook: string | null = null;

  constructor(connectionId: ConnectionId, over: Partial<ConnectionTerms> = {}, ...secrets: readonly string[]) {
    this.terms = connectionTerms(connectionId, over);
    this.provider.connectionId = connectionId;
    this.secrets = secrets;
  }

  readonly statement: ProviderStatement = {
    listReceived: async (from, to) => {
      const all = [...this.provider.incomingPayments].flatMap(([txid, some]) => some.map((one) => received(txid, one)));
      const items = all.filter(({ incoming: { paidAt } }) => from <= paidAt && paidAt <= to);
      return { kind: 'known', value: { items, next: null } };
    },
  };

  /** Throws for a body that names `poison`, as an adapter with a fault would. */
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

export class FakeConnections implements ProviderConnections, CallbackSecrets {
  readonly #all: readonly FakeConnection[];

  constructor(...all: readonly FakeConnection[]) {
    this.#all = all;
  }

  async open(id: ConnectionId): Promise<OpenConnection | null> {
    const found = this.#find(id);
    return found?.status === 'enabled' || found?.status === 'draining' ? found : null;
  }
  async callable(): Promise<readonly OpenConnection[]> {
    return this.#all.filter(({ status }) => status === 'enabled' || status === 'draining');
  }
  async statusOf(id: ConnectionId): Promise<ConnectionStatus | null> {
    return this.#find(id)?.status ?? null;
  }
  async accepts(id: ConnectionId, secret: string): Promise<boolean> {
    const found = this.#find(id);
    return found !== undefined && found.status !== 'removed' && found.secrets.includes(secret);
  }
  async requiresCertificate(id: ConnectionId): Promise<boolean> {
    return this.#find(id)?.terms.requireClientCertificate ?? false;
  }

  #find(id: ConnectionId): FakeConnection | undefined {
    return this.#all.find(({ terms }) => terms.connectionId === id);
  }
}
