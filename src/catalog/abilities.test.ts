import assert from 'node:assert/strict';
import { test } from 'node:test';
import { abilitiesOf } from './abilities.ts';

test('models are known by their family, wherever they are offered', () => {
  const images = (model: string) => abilitiesOf(model).images;
  for (const model of [
    'gpt-4o',
    'gpt-5-mini',
    'claude-sonnet-4-5',
    'anthropic/claude-opus-4.1',
    'gemini-2.5-pro',
  ])
    assert.equal(images(model), true, model);
  for (const model of [
    'gpt-4',
    'gpt-4-0613',
    'gpt-3.5-turbo',
    'o3-mini',
    'openai/gpt-oss-120b',
    'deepseek-chat',
    'GLM-4.6',
    'deepseek-ai/DeepSeek-V3.1',
    'llama-3.3-70b-versatile',
    'meta-llama/Llama-3.1-8B',
    'kimi-k2-thinking',
  ])
    assert.equal(images(model), false, model);
  for (const model of [
    'gpt-4o-audio-preview',
    'llama-3.2-90b-vision-preview',
    'glm-4.5v',
    'kimi-k2.5',
    'anything',
    'llama-4-scout',
    'gemini-2.5-flash-preview-tts',
    'llama3.2',
  ])
    assert.equal(images(model), undefined, model);
  assert.equal(abilitiesOf('o1-mini').tools, false);
  assert.equal(abilitiesOf('claude-2.1').tools, false);
  assert.equal(abilitiesOf('deepseek-chat').tools, undefined);
});
