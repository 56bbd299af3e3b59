// The texts of the frame of pages under /docs: navigation, buttons, footer.
import type { Language } from '../../../domain/presentation/amount.ts';

interface Chrome {
  readonly skip: string;
  /** Names of the navigations, for screen readers. */
  readonly site: string;
  readonly documentation: string;
  readonly language: string;
  readonly docs: string;
  readonly guides: string;
  readonly reference: string;
  readonly api: string;
  readonly errors: string;
  readonly health: string;
  readonly before: string;
  readonly next: string;
  readonly apiReference: string;
  readonly copy: string;
  readonly copied: string;
}

export const CHROME: { readonly [L in Language]: Chrome } = {
  en: {
    skip: 'Skip to content',
    site: 'Site',
    documentation: 'Documentation',
    language: 'Language',
    docs: 'Docs',
    guides: 'Guides',
    reference: 'Reference',
    api: 'API',
    errors: 'Errors',
    health: 'Health',
    before: 'Previous',
    next: 'Next',
    apiReference: 'API reference',
    copy: 'Copy',
    copied: 'Copied',
  },
  pt: {
    skip: 'Ir para o conteúdo',
    site: 'Site',
    documentation: 'Documentação',
    language: 'Idioma',
    docs: 'Documentação',
    guides: 'Guias',
    reference: 'Referência (em inglês)',
    api: 'API',
    errors: 'Erros',
    health: 'Estado do serviço',
    before: 'Anterior',
    next: 'Próximo',
    apiReference: 'Referência da API',
    copy: 'Copiar',
    copied: 'Copiado',
  },
};
