// Refusals in the two forms that institutions use: problems (RFC 7807), and Efí’s own.

export class Refusal extends Error {
  readonly status: number;
  readonly contentType: string;
  readonly body: unknown;
  /** The type of a standard problem, or null in Efí’s form. */
  readonly type: ProblemType | null;
  readonly violations: readonly Violation[];

  constructor(
    status: number,
    contentType: string,
    body: unknown,
    type: ProblemType | null = null,
    violations: readonly Violation[] = [],
  ) {
    super(JSON.stringify(body));
    this.status = status;
    this.contentType = contentType;
    this.body = body;
    this.type = type;
    this.violations = violations;
  }
}

export interface Violation {
  readonly razao: string;
  readonly propriedade?: string;
  readonly valor?: string;
}

const ERROR_TYPES = 'https://pix.bcb.gov.br/api/v2/error/';

/** The problem types that the simulator uses (API Pix 2.9.0, section "Tratamento de erros"). */
const PROBLEMS = {
  RequisicaoInvalida: [400, 'Requisição inválida.'],
  TokenInvalido: [401, 'Não autorizado.'],
  AcessoNegado: [403, 'Acesso negado.'],
  NaoEncontrado: [404, 'Não encontrado.'],
  ErroInternoDoServidor: [500, 'Erro interno do servidor.'],
  ServicoIndisponivel: [503, 'Serviço indisponível.'],
  CobNaoEncontrado: [404, 'Cobrança não encontrada.'],
  CobOperacaoInvalida: [400, 'Cobrança inválida.'],
  CobConsultaInvalida: [400, 'Consulta inválida.'],
  PixNaoEncontrado: [404, 'Pix não encontrado.'],
  PixConsultaInvalida: [400, 'Consulta inválida.'],
  PixDevolucaoNaoEncontrada: [404, 'Devolução não encontrada.'],
  PixDevolucaoInvalida: [400, 'Devolução inválida.'],
  WebhookNaoEncontrado: [404, 'Webhook não encontrado.'],
  WebhookOperacaoInvalida: [400, 'Webhook inválido.'],
  WebhookConsultaInvalida: [400, 'Consulta inválida.'],
  PixEnviadoNaoEncontrado: [404, 'Não Encontrado'],
} as const;
export type ProblemType = keyof typeof PROBLEMS;

/** Returns the refusal `type` with the violations of the request. */
export const problem = (type: ProblemType, ...violations: readonly Violation[]): Refusal => {
  const [status, title] = PROBLEMS[type];
  const detail = violations[0]?.razao ?? title;
  const body = {
    type: ERROR_TYPES + type,
    title,
    status,
    detail,
    ...(violations.length === 0 ? {} : { violacoes: violations }),
  };
  return new Refusal(status, 'application/problem+json', body, type, violations);
};

/** Returns an error in Efí’s own form (https://dev.efipay.com.br/docs/api-pix/envio-pagamento-pix/). */
export const efiError = (status: number, nome: string, mensagem: string): Refusal =>
  new Refusal(status, 'application/json', { nome, mensagem });
