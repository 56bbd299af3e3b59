// The differences between institutions, as data. Each fact names its source.
import type { ConnectionTerms } from '../../../../domain/providerConnection/connection.ts';

interface Scopes {
  readonly collect: readonly string[];
  readonly webhook: readonly string[];
}

export interface Preset {
  /** Value of `--preset`. */
  readonly name: string;
  /** Returns the path after the base URL for a path of the standard, such as `/cob/{txid}`. */
  readonly pathOf: (path: string) => string;
  readonly token: {
    /** `body`: client id and secret are fields of the body. */
    readonly credentials: 'basic' | 'body';
    readonly body: 'form' | 'json';
  };
  /** Sent with each call. */
  readonly headers: (terms: ConnectionTerms) => Record<string, string>;
  /** The scopes that a token is requested for, per use, so that a client without one of them can still use the others. */
  readonly scopes: Scopes;
  /** The scopes that a token must have. */
  readonly neededScopes: Scopes;
  /** Name of the parameter of GET /pix that selects a txid. */
  readonly txidParameter: string;
  /** Paths to the object with the payer's name and document in a Pix; the first that exists counts. */
  readonly payerAt: readonly (readonly string[])[];
  /** Error codes that mean "not found" although the status is not 404. */
  readonly absentCodes: readonly string[];
  readonly webhookHeaders: (terms: ConnectionTerms) => Record<string, string>;
  /** null: the institution sends no Pix payments through its API. */
  readonly payout: PayoutPreset | null;
}

/** Routes for sent Pix payments, which the standard doesn't have. Paths follow the base URL. */
export interface PayoutPreset {
  readonly scopes: readonly string[];
  readonly neededScopes: readonly string[];
  readonly pay: (id: string) => string;
  readonly find: (id: string) => string;
  readonly list: string;
}
