// Settings that can be changed while the simulator runs. Institutions differ in all of them.

/** The outcome of a return or Pix-out after the first response, which always has EM_PROCESSAMENTO. */
type Outcome = 'done' | 'refused' | 'processing';

export interface Settings {
  /**
   * `efi`: errors in Efí’s form with its statuses, 409 for every repeat, the payer in `gnExtras.pagador` of callbacks, and webhooks that
   * must reject calls without a certificate (efiForm.ts names the sources).
   */
  dialect: 'standard' | 'efi';
  /** Whether responses and callbacks carry the payer, which the standard removed in 2.1. */
  payer: 'none' | 'full' | 'masked';
  /** `processing` leaves the decision to the control API. */
  returns: Outcome;
  payouts: Outcome;
  tokenLifetimeSeconds: number;
  /** How the token response states `expires_in`. */
  tokenLifetimeAs: 'number' | 'text' | 'omitted';
  /** Maximum number of Pix in one callback. */
  callbackBatch: number;
  callbackOrder: 'oldestFirst' | 'newestFirst';
  /** How often each callback is sent, even if the first was accepted. */
  callbackRepeats: number;
  callbackReturnsAs: 'list' | 'object';
  callbackRetryMs: number;
  /** Maximum attempts per callback, including the first. */
  callbackAttempts: number;
  callbackTimeoutMs: number;
  /** The standard has callbacks only for Pix with a txid. */
  callbacksWithoutTxid: boolean;
  /** Whether PUT /webhook first calls the URL with a body without `pix`, and refuses the webhook unless the response is 2xx. */
  registrationCall: boolean;
  /** Fees in centavos for each Pix received and sent. */
  feeReceived: number;
  feeSent: number;
}

export const DEFAULT_SETTINGS: Settings = {
  dialect: 'standard',
  payer: 'none',
  returns: 'done',
  payouts: 'done',
  tokenLifetimeSeconds: 3_600,
  tokenLifetimeAs: 'number',
  callbackBatch: 1,
  callbackOrder: 'oldestFirst',
  callbackRepeats: 1,
  callbackReturnsAs: 'list',
  callbackRetryMs: 2_000,
  callbackAttempts: 1_000,
  callbackTimeoutMs: 10_000,
  callbacksWithoutTxid: false,
  registrationCall: true,
  feeReceived: 0,
  feeSent: 0,
};

const CHOICES: { readonly [K in keyof Settings]?: readonly unknown[] } = {
  dialect: ['standard', 'efi'],
  payer: ['none', 'full', 'masked'],
  returns: ['done', 'refused', 'processing'],
  payouts: ['done', 'refused', 'processing'],
  tokenLifetimeAs: ['number', 'text', 'omitted'],
  callbackOrder: ['oldestFirst', 'newestFirst'],
  callbackReturnsAs: ['list', 'object'],
  callbacksWithoutTxid: [true, false],
  registrationCall: [true, false],
};
/** The numeric settings that may be 0. */
const MAY_BE_ZERO: readonly string[] = ['callbackRetryMs', 'feeReceived', 'feeSent'];

/** Returns the problem of a change of settings, or null. */
export const settingsProblem = (change: object): string | null => {
  for (const [name, value] of Object.entries(change)) {
    if (!Object.hasOwn(DEFAULT_SETTINGS, name)) return `"${name}" is not a setting.`;
    const choices = CHOICES[name as keyof Settings];
    if (choices !== undefined && !choices.includes(value)) return `"${name}" must be one of: ${choices.join(', ')}.`;
    const least = MAY_BE_ZERO.includes(name) ? 0 : 1;
    if (choices === undefined && !(Number.isSafeInteger(value) && (value as number) >= least))
      return `"${name}" must be an integer of at least ${least}.`;
  }
  return null;
};
