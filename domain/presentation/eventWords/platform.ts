// Sentences about the platform: skipped events and connections to providers.
import type { EventWords } from './words.ts';

export const PLATFORM_SENTENCES = {
  LogConsumerEventSkipped: ({ consumer, stream, revision }) => ({
    en: `An operator had ${consumer} skip event ${stream}@${revision}.`,
    pt: `Um operador fez ${consumer} pular o evento ${stream}@${revision}.`,
  }),
  ProviderConnectionAdded: ({ preset }) => ({
    en: `A provider connection (${preset}) was added.`,
    pt: `Uma conexão com um provedor (${preset}) foi adicionada.`,
  }),
  ProviderConnectionChanged: () => ({
    en: 'The provider connection was changed.',
    pt: 'A conexão com o provedor foi alterada.',
  }),
  ProviderConnectionEnabled: () => ({
    en: 'The provider connection takes new payments.',
    pt: 'A conexão com o provedor aceita novos pagamentos.',
  }),
  ProviderConnectionDrained: () => ({
    en: 'The provider connection takes no new payments.',
    pt: 'A conexão com o provedor não aceita novos pagamentos.',
  }),
  ProviderConnectionDisabled: () => ({
    en: 'The provider connection was disabled.',
    pt: 'A conexão com o provedor foi desativada.',
  }),
  ProviderConnectionRestored: () => ({
    en: 'The provider connection is draining again, because a refund was requested while it was being removed.',
    pt: 'A conexão com o provedor volta a ser esvaziada, porque um estorno foi pedido durante a remoção.',
  }),
  ProviderConnectionRemoved: () => ({
    en: 'The provider connection was removed.',
    pt: 'A conexão com o provedor foi removida.',
  }),
  ProviderConnectionClientSecretRotated: () => ({
    en: 'The provider connection’s client secret was rotated.',
    pt: 'O segredo do cliente da conexão com o provedor foi trocado.',
  }),
  ProviderConnectionCallbackSecretRotated: () => ({
    en: 'The provider connection’s callback secret was rotated.',
    pt: 'O segredo dos callbacks da conexão com o provedor foi trocado.',
  }),
} satisfies Partial<EventWords>;
