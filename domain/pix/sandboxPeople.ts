// Payers that exist in the sandbox only: the fictitious people of pix.md, whose CPFs have right check digits, and their bank.

interface SandboxPerson {
  readonly name: string;
  /** Bare CPF. */
  readonly document: string;
}

/** The fictitious bank that makes the end-to-end ids of the sandbox. */
export const SANDBOX_ISPB = '99999004';

/** The first one pays when a charge in the sandbox has no valid customer document (rule X1). */
export const SANDBOX_PEOPLE = [
  { name: 'PAGADOR DE TESTE', document: '99991111140' },
  { name: 'MARIA DE TESTE', document: '99992222263' },
  { name: 'JOAO DE TESTE', document: '99993333387' },
  { name: 'ANA DE TESTE', document: '99994444409' },
  { name: 'PEDRO DE TESTE', document: '99995555514' },
] as const satisfies readonly SandboxPerson[];
