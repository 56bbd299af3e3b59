// The reader of a dashboard page, with the language and, for members of an account, the mode.
import type { Actor } from '../../../application/core/eventMetadata.ts';
import type { Mode, Tenant } from '../../../domain/kernel/ids.ts';
import type { Language } from '../../../domain/presentation/amount.ts';
import type { Caller, Callers, MemberCaller } from '../../kernel/callers.ts';
import type { AppServices } from '../../kernel/serverContext.ts';
import type { Markup } from '../html.ts';
import type { Texts } from './texts/texts.ts';

/** A member of an account, or an operator of the platform. */
export interface Person {
  readonly language: Language;
  readonly texts: Texts;
  readonly caller: Callers['anyMember'];
  readonly actor: Actor;
  readonly services: AppServices;
  /** Returns the address of a page in the same mode, or of the platform. */
  readonly to: (path?: string) => string;
  /** The hidden field of every form. */
  readonly csrf: Markup;
}

/** A member who requests a page of one mode. */
export interface Reader extends Person {
  readonly mode: Mode;
  readonly tenant: Tenant;
  readonly caller: MemberCaller;
  /** The caller as in the API, in the page's mode. */
  readonly asCaller: Caller;
  readonly mayChange: boolean;
  /** Also requests payouts and accepts disputes. */
  readonly mayManage: boolean;
}
