"""An agent learns gymnasium's CartPole by policy gradients."""

import gymnasium as gym
import torch
from torch import nn, optim
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))

    def forward(self, state):
        return Categorical(logits=self.layers(state))


def play(env, policy, seed):
    state, _ = env.reset(seed=seed)
    log_probs, rewards, done = [], [], False
    while not done:
        choice = policy(torch.from_numpy(state).float())
        action = choice.sample()
        state, reward, terminated, truncated, _ = env.step(action.item())
        log_probs.append(choice.log_prob(action))
        rewards.append(float(reward))
        done = terminated or truncated
    return torch.stack(log_probs), rewards


def returns(rewards, discount=0.99):
    result, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + discount * total
        result.append(total)
    values = torch.tensor(result[::-1])
    return (values - values.mean()) / (values.std() + 1e-6)


def main():
    torch.manual_seed(1)
    env = gym.make("CartPole-v1")
    policy = Policy()
    optimizer = optim.Adam(policy.parameters(), lr=1e-2)
    for episode in range(30):
        log_probs, rewards = play(env, policy, seed=episode)
        loss = -(log_probs * returns(rewards)).sum()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        if episode % 5 == 4:
            print(f"episode {episode + 1} steps {len(rewards)} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
