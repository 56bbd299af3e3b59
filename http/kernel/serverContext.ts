// The services that handlers use besides the use cases: read models and facilities of the serving process.

import type { Needs, Platform, Services } from '../../application/capabilities.ts';
import type { Accounts } from '../../application/core/accounts.ts';
import type { PaymentChanges } from '../../application/payments/paymentChanges.ts';
import type { CaughtUp, ParkedStreams, Progress } from '../../application/ports/readModels/progress.ts';
import type { RequestLogReads } from '../../application/ports/requestLog.ts';
import type { ReportSecurityEvent, SecurityLine } from '../../application/ports/securityEvents.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { EventSink, Refusal } from './answers.ts';

/** Services of a gateway, whether or not it serves HTTP. */
export interface GatewayContext {
  readonly baseUrl: string;
  readonly views: Needs['views'];
  readonly accounts: Accounts;
  readonly progress: Progress;
  readonly caughtUp: CaughtUp;
  readonly parked: ParkedStreams;
  /** For operators only. */
  readonly platform: Platform;
  /** Waits for an effect to show in the read models: calls `look` whenever one advances. Returns its value, or null after `timeoutMs`. */
  readonly untilSeen: <T>(timeoutMs: number, look: () => Promise<T | null>) => Promise<T | null>;
  /** The same for one payment: calls `look` with it at first and after each of its changes. */
  readonly untilPaymentSeen: PaymentChanges['until'];
}

export interface Operations {
  /** Returns why the process can't serve, or null if it is ready: it can append and read, and its lag is below 5 s. */
  readonly unreadiness: () => Promise<string | null>;
  /** Returns the number of streams that a consumer has parked. An operator should look into them; other streams are not affected. */
  readonly parkedStreams: () => number;
  /** Returns why the audit log no longer follows the event log, or null if it does or the state is unknown. */
  readonly auditStopped: () => Promise<string | null>;
  /** Returns the newest lines of the security log that this process wrote, newest first. */
  readonly securityLines: () => readonly SecurityLine[];
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** The bearer token for /metrics, or null if none is set. */
  readonly metricsToken: string | null;
  /** Whether, if no token is set, clients on this machine may read /metrics. */
  readonly metricsOnLoopback: boolean;
}

/** The status that a payer's page shows while it waits for the payment. */
export interface LiveStatus {
  readonly status: string;
  readonly expires_at: string | null;
  readonly now: string;
}

/** A version that changes with the content of a dashboard page. */
export interface PageVersion {
  readonly version: string;
}

export interface ServerContext extends GatewayContext {
  /** Whether operators log in on this listener. */
  readonly operatorsLogIn: boolean;
  /** Whether members of accounts have their pages on this listener. */
  readonly hasMembersPages: boolean;
  /** Whether operators' routes reject operators without a second factor. */
  readonly operatorsNeedSecondFactor: boolean;
  readonly operations: Operations;
  /** Aborts when the process stops, which ends open streams. */
  readonly closing: AbortSignal;
  readonly requestLog: RequestLogReads;
  readonly reportSecurityEvent: ReportSecurityEvent;
  /** Status streams of open payer pages. */
  readonly statusStreams: {
    /** Returns a stream of the payment's status, 204 if the status is final, or a refusal if too many pages are open. */
    answer(
      id: PaymentId,
      address: string,
      status: LiveStatus,
    ): { readonly status: 204 } | { readonly status: 200; readonly open: (sink: EventSink) => void } | Refusal;
  };
  /** Streams of the dashboard's open pages. */
  readonly pageStreams: {
    /** Returns a stream that ends with the first version other than `shown`, or a refusal if too many pages are open. */
    open(
      key: string,
      address: string,
      now: PageVersion,
      shown: string,
    ): { readonly status: 200; readonly open: (sink: EventSink) => void } | Refusal;
  };
}

/** All use cases and services of a gateway. */
export type GatewayServices = Services & GatewayContext;
/** All use cases and services that handlers can call. */
export type AppServices = Services & ServerContext;
