// Fictitious payers of the sandbox, whose CPFs have valid check digits (pix.md), and their bank.

interface SandboxPerson {
  readonly name: string;
  /** CPF without punctuation. */
  readonly document: string;
}

/** The fictitious bank that issues the sandbox's end-to-end ids. */
export const SANDBOX_ISPB = '99999004';

/** The first person pays if a sandbox charge has no valid customer document (rule X1). */
export const SANDBOX_PEOPLE = [
  { name: 'PAGADOR DE TESTE', document: '99991111140' },
  { name: 'MARIA DE TESTE', document: '99992222263' },
  { name: 'JOAO DE TESTE', document: '99993333387' },
  { name: 'ANA DE TESTE', document: '99994444409' },
  { name: 'PEDRO DE TESTE', document: '99995555514' },
] as const satisfies readonly SandboxPerson[];
