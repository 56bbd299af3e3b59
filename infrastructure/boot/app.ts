// Builds the HTTP application of a gateway: routes, limits, open status streams and the request log.
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Express } from 'express';
import { DECLARED_SETTINGS } from '../../application/capabilities.ts';
import type { DeclaredSettings } from '../../domain/kernel/accountSetting.ts';
import { auditorCaller } from '../../http/api/audit/auditorCaller.ts';
import { type CertificateHeader, providerCaller } from '../../http/api/providers/callbackCaller.ts';
import { routesFor } from '../../http/api/routes.ts';
import {
  type AddressLimits,
  addressLimit,
  type ConnectionLimits,
  connectionLimit,
  OVERLOAD,
  Overload,
  type OverloadOptions,
  rateLimit,
} from '../../http/kernel/admission.ts';
import { type AppOptions, createApp } from '../../http/kernel/app.ts';
import { PLATFORM_PAGES } from '../../http/kernel/callers.ts';
import { MinuteWindows } from '../../http/kernel/minuteWindows.ts';
import type { Route } from '../../http/kernel/route.ts';
import { newRequestId } from '../../http/kernel/send.ts';
import type { Operations } from '../../http/kernel/serverContext.ts';
import { prepareBody } from '../../http/kernel/validation.ts';
import { logoPath } from '../../http/site/checkout/view.ts';
import { openStatusStreams } from '../../http/site/checkoutRoutes.ts';
import { operatorsErrorPage } from '../../http/site/dashboard/errorPage.ts';
import { openPageStreams } from '../../http/site/dashboard/live.ts';
import { isForSigningIn } from '../../http/site/dashboard/routes.ts';
import { docsRoutes } from '../../http/site/docsRoutes.ts';
import { errorPage } from '../../http/site/errorPage.ts';
import { type Log, warnings } from '../log/log.ts';
import { operatorLog } from '../monitoring/securityLog.ts';
import { RequestLog, requestLogReads, requestLogStore } from '../requests/requestLog.ts';
import { requestShares } from '../requests/requestShares.ts';
import { systemRandomness } from '../system/system.ts';
import type { Gateway } from './gateway.ts';
import type { Storage } from './storage.ts';

type SetHere =
  | 'services'
  | 'onOperatorRequest'
  | 'overload'
  | 'routes'
  | 'absentPaths'
  | 'newRequestId'
  | 'errorPage'
  | 'rateLimit'
  | 'addressLimit'
  | 'connectionLimit'
  | 'beginRequest';

interface GatewayAppOptions extends Omit<AppOptions, SetHere> {
  /** The header with which a proxy states that it verified an institution's certificate; null: no proxy sends one. */
  readonly certificateHeader: CertificateHeader | null;
  readonly routes: readonly Route[];
  readonly operations: Operations;
  readonly storage: Pick<Storage, 'operations' | 'derived' | 'reads'>;
  readonly log: Log;
  /** Requests per minute for each address, and for each key whose account has no limit of its own (0: no limit). */
  readonly limits: {
    readonly perMinute: number;
    readonly ofAddress?: Partial<AddressLimits>;
    readonly ofConnection?: Partial<ConnectionLimits>;
    /** Clock that measures minutes, in milliseconds; default: this process's own clock. */
    readonly now?: () => number;
  };
  readonly overload?: Partial<OverloadOptions>;
  /** Routes of the operators' listener; null: the main listener serves them (rule S7). */
  readonly opsRoutes?: readonly Route[] | null;
  /** Whether operators' routes reject an operator without a second factor (rule D4). */
  readonly operatorsNeedSecondFactor: boolean;
}

export interface GatewayApp {
  readonly app: Express;
  /** null if there is no separate listener for operators. */
  readonly opsApp: Express | null;
  /** Close it after the last response. */
  readonly requestLog: RequestLog;
  /** Compiles validators and warms caches, so that first requests are fast. Waits one second first, because a start is busy. */
  prepare(): Promise<void>;
  /** Ends open status streams and periodic work. */
  close(): void;
}

/** Returns all routes: API, pages and documentation. `declared`: the settings that they show and change. */
export const allRoutes = (
  site: Parameters<typeof docsRoutes>[1],
  declared: DeclaredSettings = DECLARED_SETTINGS,
): readonly Route[] => {
  const { api, all } = routesFor(declared);
  return [...all, ...docsRoutes(api, site)];
};

const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`);
const isForOperators = ({ path }: Route): boolean =>
  path.startsWith('/ops/') || path === '/metrics' || isWithin(PLATFORM_PAGES, path);
const ON_EACH = ['/health/', '/v1/auth/', logoPath('')];
/** Routes of each listener: health, sign-in, and the logos on operators' pages. */
const isOnEach = (route: Route): boolean =>
  ON_EACH.some((folder) => route.path.startsWith(folder)) || isForSigningIn(route);

/** Returns the routes of the main listener and of the operators' listener (null if they share one, rule S7). */
export const routesByListener = (
  routes: readonly Route[],
  isApart: boolean,
): { readonly routes: readonly Route[]; readonly opsRoutes: readonly Route[] | null } =>
  isApart
    ? {
        routes: routes.filter((route) => !isForOperators(route)),
        opsRoutes: routes.filter((route) => isForOperators(route) || isOnEach(route)),
      }
    : { routes, opsRoutes: null };

/** How many counts of keys and accounts are kept; the least recently used are dropped. Enough for 10,000 accounts with two keys each. */
const KEYS_REMEMBERED = 50_000;
/** Addresses are counted apart from keys, so that a flood of hostile addresses doesn't displace keys. */
const ADDRESSES_REMEMBERED = 50_000;

const PREPARED_AFTER_MS = 1_000;

/** Prepares one route per turn of the event loop, so that requests wait at most for one. */
const prepareRoutes = async (routes: readonly Route[], signal: AbortSignal): Promise<void> => {
  await pause(PREPARED_AFTER_MS, null, { ref: false, signal }).catch(() => undefined);
  for (const { body, prepare } of routes) {
    if (signal.aborted) return;
    if (body.kind === 'json') prepareBody(body);
    prepare?.();
    await nextTurn();
  }
};

export const openApp = (
  { services, projected, needs }: Pick<Gateway, 'services' | 'projected' | 'needs'>,
  { operations, storage, log, limits, overload: bounds, opsRoutes = null, ...options }: GatewayAppOptions,
): GatewayApp => {
  const statusStreams = openStatusStreams(services);
  const pageStreams = openPageStreams(services);
  const closing = new AbortController();
  const takeShares = requestShares(storage.operations);
  const requestLog = new RequestLog({
    store: requestLogStore(storage.derived),
    clock: needs.clock,
    randomness: systemRandomness,
    head: () => projected.head,
    onError: warnings(log)('request log entries could not be written'),
  });
  const shared = { takeShares, ...(limits.now && { now: limits.now }) };
  const ofKeys = new MinuteWindows({ remembered: KEYS_REMEMBERED, ...shared });
  const ofAddresses = new MinuteWindows({ remembered: ADDRESSES_REMEMBERED, ...shared });
  const ofConnections = connectionLimit(ofKeys, limits.ofConnection);
  // The same object, so that changes to the gateway's services also apply to the routes.
  const all = Object.assign(services, {
    operations,
    statusStreams,
    pageStreams,
    reportSecurityEvent: options.onSecurityEvent,
    requestLog: requestLogReads(storage.reads),
    closing: closing.signal,
    operatorsNeedSecondFactor: options.operatorsNeedSecondFactor,
    operatorsLogIn: true,
    hasMembersPages: true,
  });
  const overloads: Overload[] = [];
  // Each listener has its own limits, so that a flood of the main one doesn't lock operators out.
  const appOf = (routes: readonly Route[], others: readonly Route[], appServices: typeof all): Express => {
    const overload = new Overload({ ...OVERLOAD, ...bounds });
    overloads.push(overload);
    return createApp({
      ...options,
      routes,
      absentPaths: [...new Set(others.filter((one) => !routes.includes(one)).map(({ path }) => path))],
      overload,
      // The error page needs the documentation's style sheet, which not every listener serves.
      errorPage: routes.some(({ path }) => path.startsWith('/docs/')) ? errorPage : operatorsErrorPage,
      rateLimit: rateLimit(ofKeys, limits.perMinute),
      addressLimit: addressLimit(ofAddresses, limits.ofAddress),
      connectionLimit: ofConnections,
      authenticators: {
        provider: providerCaller(services, options.certificateHeader),
        auditor: auditorCaller(services),
        ...options.authenticators,
      },
      newRequestId: () => newRequestId(needs.clock, systemRandomness),
      beginRequest: () => requestLog.begin(),
      onOperatorRequest: operatorLog(log),
      services: appServices,
    });
  };
  const opsServices = Object.create(all, { hasMembersPages: { value: false } });
  const opsApp = opsRoutes === null ? null : appOf(opsRoutes, [], opsServices);
  const mainServices = opsApp === null ? all : Object.create(all, { operatorsLogIn: { value: false } });
  const app = appOf(options.routes, opsRoutes ?? [], mainServices);
  const close = () => {
    closing.abort();
    statusStreams.close();
    pageStreams.close();
    for (const overload of overloads) overload.close();
    ofKeys.close();
    ofAddresses.close();
  };
  const prepare = () => prepareRoutes([...options.routes, ...(opsRoutes ?? [])], closing.signal);
  return { app, opsApp, requestLog, prepare, close };
};
