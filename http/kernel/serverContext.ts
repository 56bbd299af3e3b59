// What handlers have besides the use cases: what read models show, and what belongs to the process that serves.

import type { Needs, Platform, Services } from '../../application/capabilities.ts';
import type { Accounts } from '../../application/core/accounts.ts';
import type { ParkedStreams, Progress } from '../../application/ports/readModels/progress.ts';
import type { RequestLogReads } from '../../application/ports/requestLog.ts';
import type { ReportSecurityEvent } from '../../application/ports/securityEvents.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { EventSink, Refusal } from './answers.ts';

/** What a gateway has, whether it serves or not. */
export interface GatewayContext {
  readonly baseUrl: string;
  readonly views: Needs['views'];
  readonly accounts: Accounts;
  readonly progress: Progress;
  readonly parked: ParkedStreams;
  /** For operators alone. */
  readonly platform: Platform;
  /** Waits for an effect to show in the read models: returns what `look` finds; null after `timeoutMs`. It looks whenever one moved. */
  readonly untilSeen: <T>(timeoutMs: number, look: () => Promise<T | null>) => Promise<T | null>;
}

export interface Operations {
  /** Why it can't serve, or null when it is ready: can append, can read, lag below 5 s. */
  readonly unreadiness: () => Promise<string | null>;
  /** Streams that some consumer has parked: an operator should look, but nothing else waits for it. */
  readonly parkedStreams: () => number;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** null: no token opens /metrics. */
  readonly metricsToken: string | null;
  /** Whether, without a token, whoever is on this machine may read /metrics. */
  readonly metricsOnLoopback: boolean;
}

/** What a payer's page shows of a payment while it waits. */
export interface LiveStatus {
  readonly status: string;
  readonly expires_at: string | null;
  readonly now: string;
}

export interface ServerContext extends GatewayContext {
  /** Whether operators log in on this listener. */
  readonly operatorsLogIn: boolean;
  /** Whether operators' routes refuse an operator without a second factor. */
  readonly operatorsNeedSecondFactor: boolean;
  readonly operations: Operations;
  /** Ends when the process stops: streams that have no end of their own end with it. */
  readonly closing: AbortSignal;
  readonly requestLog: RequestLogReads;
  readonly reportSecurityEvent: ReportSecurityEvent;
  /** Open pages of payers, which hear of changes. */
  readonly statusStreams: {
    /** Returns the stream of a payment's status; 204 once nothing can follow, and a refusal beyond a bound of open pages. */
    answer(
      id: PaymentId,
      address: string,
      status: LiveStatus,
    ): { readonly status: 204 } | { readonly status: 200; readonly open: (sink: EventSink) => void } | Refusal;
  };
}

/** All that a gateway lets be called and read. */
export type GatewayServices = Services & GatewayContext;
/** All that handlers can call and read. */
export type AppServices = Services & ServerContext;
