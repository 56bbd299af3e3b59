// What the schema doesn’t cover: tokens, sent Pix and their callbacks. The fixtures follow the institutions’ documentation and name its
// source; people and ids in them are fictitious.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { PayoutOrder, PayoutRail } from '../../application/ports/payoutRail.ts';
import type {
  CallbackHint,
  OpenConnection,
  ProviderStatement,
  SentPayment,
} from '../../application/ports/providerConnections.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import { type Answer, Institution, type Request } from '../infrastructure/providers/pixApi/institution.ts';
import { parseTimestamp } from '../support/timestamp.ts';
import { openAdapter } from './support/adapter.ts';

const FOLDER = join(import.meta.dirname, 'fixtures');
const TENANT = { accountId: 'acc_00000000000000000000000001' as AccountId, mode: 'live' } as const;

interface Fixture {
  readonly source: readonly string[];
  readonly preset: string;
}
interface TokenFixture extends Fixture {
  readonly request: {
    readonly path: string;
    readonly authorization: 'Basic' | null;
    readonly contentType: string;
    readonly fields: object;
  };
  readonly answer: Answer;
}
interface PayoutFixture extends Fixture {
  readonly cases: readonly {
    readonly title: string;
    readonly call: 'pay' | 'find' | 'list';
    readonly exchanges: readonly { readonly request: object; readonly answer: Answer }[];
    readonly outcome: unknown;
  }[];
}
interface CallbackFixture extends Fixture {
  readonly cases: readonly { readonly title: string; readonly body: object; readonly hints: readonly CallbackHint[] }[];
}

const fixtures = <F extends Fixture>(kind: string): readonly (readonly [name: string, fixture: F])[] =>
  readdirSync(FOLDER)
    .filter((file) => file.startsWith(kind))
    .map((file) => [file, JSON.parse(readFileSync(join(FOLDER, file), 'utf8'))]);

const ORDER: PayoutOrder = {
  ...TENANT,
  payoutId: 'envio0001' as PayoutId,
  amount: toMinor(1_234),
  destination: '99991111140',
  note: 'Pagamento da conta',
  connectionId: null,
  metadata: null,
};
const [FROM, TO] = ['2026-11-21T00:00:00.000Z', '2026-11-22T00:00:00.000Z'].map(parseTimestamp) as [
  Timestamp,
  Timestamp,
];

const listAll = async ({ statement }: OpenConnection): Promise<readonly SentPayment[]> => {
  const { listSent } = statement as Required<ProviderStatement>;
  const items: SentPayment[] = [];
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const page = await listSent(FROM, TO, cursor);
    if (page.kind === 'unknown') throw new Error('The list was not read.');
    items.push(...page.value.items);
    cursor = page.value.next;
  }
  return items;
};
const CALLS = {
  pay: ({ rail }: OpenConnection) => (rail as PayoutRail).pay(ORDER),
  find: ({ rail }: OpenConnection) => (rail as PayoutRail).find(ORDER),
  list: listAll,
};

const bodyOf = ({ body, headers }: Request): unknown =>
  headers['content-type'] === 'application/json' ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));

describe('the adapter, compared with institutions’ documentation', () => {
  let institution: Institution;
  beforeEach(async () => {
    institution = await Institution.open();
  });
  afterEach(() => institution.close());

  const open = (preset: string, tokenPath = '/oauth/token'): OpenConnection =>
    openAdapter({ preset, baseUrl: institution.url, tokenUrl: institution.url + tokenPath, pixKey: '19974764017' });

  it('every fixture names its source', () => {
    for (const [name, { source }] of fixtures('')) expect(source, name).to.have.length.greaterThan(0);
  });

  for (const [name, { preset, request, answer }] of fixtures<TokenFixture>('token-'))
    it(`requests a token and uses it: ${name}`, async () => {
      const asked: Request[] = [];
      const bearers: unknown[] = [];
      institution.token = institution.answer = (given) => {
        if (given.path === request.path) {
          asked.push(given);
          return answer;
        }
        bearers.push(given.headers.authorization);
        return { status: 404, body: { type: 'PixNaoEncontrado', title: 'Não encontrado', status: 404 } };
      };
      const adapter = open(preset, request.path);
      const findPayment = () => adapter.provider.findPayment(TENANT, 'E'.repeat(32));
      expect(await findPayment()).to.deep.equal({ kind: 'known', value: null });
      expect(await findPayment()).to.deep.equal({ kind: 'known', value: null });
      adapter.close();
      const basic = `Basic ${Buffer.from('a client:a secret').toString('base64')}`;
      expect(
        asked.map((given) => ({
          method: given.method,
          authorization: given.headers.authorization ?? null,
          contentType: given.headers['content-type'],
          fields: bodyOf(given),
        })),
      ).to.deep.equal([
        {
          method: 'POST',
          authorization: request.authorization === null ? null : basic,
          contentType: request.contentType,
          fields: request.fields,
        },
      ]);
      const bearer = `Bearer ${(answer.body as { access_token: string }).access_token}`;
      expect(bearers).to.deep.equal([bearer, bearer]);
    });

  for (const [name, { preset, cases }] of fixtures<PayoutFixture>('payout-'))
    for (const { title, call, exchanges, outcome } of cases)
      it(`handles a payout ${title}: ${name}`, async () => {
        const answers = exchanges.map(({ answer }) => answer);
        institution.answer = () => answers.shift() ?? { status: 500 };
        const adapter = open(preset);
        expect(await CALLS[call](adapter)).to.deep.equal(outcome);
        adapter.close();
        expect(
          institution.requests.map((given) => ({
            method: given.method,
            path: given.path,
            ...(given.body !== '' && { body: bodyOf(given) }),
          })),
        ).to.deep.equal(exchanges.map(({ request }) => request));
      });

  for (const [name, { preset, cases }] of fixtures<CallbackFixture>('callbacks-'))
    for (const { title, body, hints } of cases)
      it(`reads a callback about ${title}: ${name}`, () => {
        const adapter = open(preset);
        expect(adapter.readCallback(JSON.stringify(body))).to.deep.equal(hints);
        adapter.close();
      });
});
