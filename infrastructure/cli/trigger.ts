// `trigger`: brings a charge of the sandbox into the state that an event tells of, through the interface, as a merchant and a payer would.
import { formatAmount } from '../../domain/presentation/amount.ts';
import { EVENT_CATALOGUE } from '../../domain/presentation/catalogue.ts';
import { loadToolConfig } from '../config/config.ts';
import { Merchant } from '../demo/merchant.ts';
import { CHARGE_AMOUNT } from '../payments/terminal.ts';
import { type CliCommand, UsageError } from './command.ts';
import { type Delivery, deliveryCells, HEAD } from './deliveries.ts';
import { table } from './output.ts';
import { rawIdOf, type Scenario, type Triggers } from './scenario.ts';

/** The deliveries of this event about this charge or the like, once nothing is under way any more. */
const deliveriesOf = async (merchant: Merchant, event: string, rawId: string): Promise<readonly Delivery[]> => {
  await merchant.call('POST', '/v1/sandbox/deliveries/flush', {});
  const path = `/v1/webhooks/deliveries?limit=100&eventType=${event}`;
  const { data } = await merchant.call<{ data: readonly Delivery[] }>('GET', path);
  return data.filter(({ payload }) => JSON.stringify(payload).includes(rawId));
};

/** By name of the catalogue, in its order. Throws if an event has no scenario. */
export const scenariosOf = (triggers: readonly Triggers[]): { readonly [event: string]: Scenario } => {
  const all = new Map(triggers.flatMap(({ scenarios }) => Object.entries(scenarios)));
  return Object.fromEntries(
    EVENT_CATALOGUE.map(({ event }) => {
      const scenario = all.get(event);
      if (scenario === undefined) throw new Error(`no capability has a scenario for ${event}`);
      return [event, scenario];
    }),
  );
};

const CHARGE = formatAmount(CHARGE_AMOUNT, 'BRL', 'en');

export const triggerCommand = (triggers: readonly Triggers[]): CliCommand => ({
  name: 'trigger',
  summary: `Make an event happen in the sandbox: bring a real charge of ${CHARGE} to that state and send its webhooks; some events move the test clock a minute ahead`,
  args: [{ name: 'event', choice: { what: 'event', names: EVENT_CATALOGUE.map(({ event }) => event) } }],
  options: {},
  isLocal: true,
  run: async ({ env }, { args }) => {
    const event = args[0] as string;
    const scenario = scenariosOf(triggers)[event] as Scenario;
    const merchant = await Merchant.of(loadToolConfig(env));
    if (merchant.mode === 'live') throw new UsageError('trigger acts in the sandbox: API_KEY must be a test key');
    const { chargeId, others = {}, aboutId = chargeId, clockAdvancedSeconds = 0 } = await scenario(merchant);
    const deliveries = await deliveriesOf(merchant, event, rawIdOf(aboutId));
    const paymentId = `tx_${rawIdOf(chargeId)}`;
    const ids = triggers.flatMap(({ makes }) => (makes === undefined ? [] : [[`${makes}Id`, others[makes] ?? null]]));
    return {
      json: { event, chargeId, paymentId, ...Object.fromEntries(ids), clockAdvancedSeconds, deliveries },
      text: (screen) =>
        [
          `${event}: charge ${chargeId} of ${CHARGE}, payment ${paymentId}${Object.entries(others)
            .map(([name, id]) => `, ${name} ${id}`)
            .join('')}`,
          ...(clockAdvancedSeconds === 0 ? [] : [`The account's test clock went ${clockAdvancedSeconds} s ahead.`]),
          deliveries.length === 0
            ? 'No endpoint wants it: nothing was sent.'
            : table(screen, HEAD, deliveries.map(deliveryCells)),
        ].join('\n'),
    };
  },
});
