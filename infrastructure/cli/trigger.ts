// `trigger`: causes an event in the sandbox through the API, acting as merchant and payer.
import { formatAmount } from '../../domain/presentation/amount.ts';
import { EVENT_CATALOGUE } from '../../domain/presentation/catalogue.ts';
import { loadToolConfig } from '../config/config.ts';
import { Merchant } from '../demo/merchant.ts';
import { CHARGE_AMOUNT } from '../payments/terminal.ts';
import { type Delivery, deliveryCells, HEAD } from '../webhooks/commands/deliveries.ts';
import { type CliCommand, UsageError } from './command.ts';
import { table } from './output.ts';
import { rawIdOf, type Scenario, type Triggers } from './scenario.ts';

/** Waits for pending deliveries, and returns those of this event that mention the object. */
const deliveriesOf = async (merchant: Merchant, event: string, rawId: string): Promise<readonly Delivery[]> => {
  await merchant.call('POST', '/v1/sandbox/deliveries/flush', {});
  const path = `/v1/webhooks/deliveries?limit=100&eventType=${event}`;
  const { data } = await merchant.call<{ data: readonly Delivery[] }>('GET', path);
  return data.filter(({ payload }) => JSON.stringify(payload).includes(rawId));
};

/** Returns the scenarios by event name, in the catalogue's order. Throws if an event has no scenario. */
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
  summary: `Trigger an event in the sandbox with a charge of ${CHARGE}, and send its webhooks; some events advance the test clock by a minute`,
  args: [{ name: 'event', choices: EVENT_CATALOGUE.map(({ event }) => event) }],
  isLocal: true,
  run: async ({ env }, { args }) => {
    const event = args[0] as string;
    const scenario = scenariosOf(triggers)[event] as Scenario;
    const merchant = await Merchant.of(loadToolConfig(env));
    if (merchant.mode === 'live') throw new UsageError('trigger works only in the sandbox: API_KEY must be a test key');
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
          ...(clockAdvancedSeconds === 0
            ? []
            : [`The account's test clock was advanced by ${clockAdvancedSeconds} s.`]),
          deliveries.length === 0
            ? 'No endpoint subscribes to this event: nothing was sent.'
            : table(screen, HEAD, deliveries.map(deliveryCells)),
        ].join('\n'),
    };
  },
});
