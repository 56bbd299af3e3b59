// Live pages. A stream reports that a page is older than the read model, and ends. The page then reloads as the same user, so that no
// stream carries data that its reader may no longer see.
import { NO_PAYMENT } from '../../../application/payments/ownPayment.ts';
import type { Watched } from '../../../application/ports/readModels/payments.ts';
import type { AccountId, Mode, PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import { paymentParam } from '../../api/payments/payment.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { matching } from '../../kernel/query.ts';
import { route } from '../../kernel/route.ts';
import type { AppServices, GatewayServices, PageVersion } from '../../kernel/serverContext.ts';
import { LiveStreams } from '../liveStreams.ts';
import { modeParam, ofMember } from './page.ts';

/** The account or payment that a page watches, as one text. Modes have 4 characters, and raw ids 26. */
type PageKey = string;
const keyOf = ({ tenant: { mode, accountId }, paymentId }: Watched): PageKey => mode + accountId + (paymentId ?? '');
const watchedOf = (key: PageKey): Watched => ({
  tenant: { mode: key.slice(0, 4) as Mode, accountId: key.slice(4, 30) as AccountId },
  paymentId: key.length > 30 ? (key.slice(30) as PaymentId) : null,
});

/** Returns the streams of the dashboard's pages that are open in this process. */
export const openPageStreams = ({ progress, views }: GatewayServices): LiveStreams<PageKey, PageVersion> =>
  new LiveStreams(progress, {
    event: 'page',
    find: async (keys) => {
      const versions = await views.payments.versions(keys.map(watchedOf));
      return new Map(keys.map((key, n) => [key, { version: versions[n] ?? '' }]));
    },
    shownOf: ({ version }) => version,
    isLast: (_, isNew) => isNew,
    pauseMs: 1_000,
    watched: 'account or payment',
    bounds: { ofKey: 50, ofAddress: 200, inAll: 2_000, lifetimeMs: 600_000 },
  });

const stream = async (
  tenant: Tenant,
  paymentId: PaymentId | null,
  { shown, address, services }: { readonly shown: string; readonly address: string; readonly services: AppServices },
) => {
  const watched = { tenant, paymentId };
  const [version = ''] = await services.views.payments.versions([watched]);
  if (version === '' && paymentId !== null) return NO_PAYMENT;
  return services.pageStreams.open(keyOf(watched), address, { version }, shown);
};

const streaming = {
  ...ofMember,
  query: { shown: matching('The version that the page shows.', 'a text', (text) => text) },
  reads: ['payments'],
  responses: {
    200: {
      kind: 'eventStream',
      description:
        'Events `page` with the current version. The stream ends with the first one that the page does not show.',
      schema: s.exactly({ version: s.described('Changes with what the page shows.', s.string()) }),
    },
  },
} as const;

const recentStream = route('GET', '/dashboard/{mode}/events', {
  ...streaming,
  operationId: 'streamOverview',
  summary: 'Report changes of the newest payments as server-sent events',
  params: modeParam,
  handle: async ({ caller, params: { mode }, query: { shown = '' }, address, services }) =>
    stream({ accountId: caller.account.accountId, mode }, null, { shown, address, services }),
});

const paymentStream = route('GET', '/dashboard/{mode}/payments/{id}/events', {
  ...streaming,
  operationId: 'streamPayment',
  summary: 'Report changes of a payment as server-sent events',
  params: { ...modeParam, ...paymentParam },
  handle: async ({ caller, params: { mode, id }, query: { shown = '' }, address, services }) =>
    stream({ accountId: caller.account.accountId, mode }, id, { shown, address, services }),
});

export const LIVE_STREAMS = [recentStream, paymentStream];
