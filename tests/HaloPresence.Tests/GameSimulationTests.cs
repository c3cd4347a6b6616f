using HaloPresence.Bench;
using HaloPresence.Bench.Load;

namespace HaloPresence.Tests;

public sealed class GameSimulationTests
{
    private static readonly HaloOptions Options = new() { Players = 2000, Churn = 4 };

    [Theory]
    [InlineData(4)]
    [InlineData(67)]
    public void Every_game_has_eight_players_and_nobody_is_in_two(double churn)
    {
        var playing = new Dictionary<long, long>();
        var games = new Dictionary<long, long[]>();
        foreach (var change in Play(Options with { Churn = churn }, 1, TimeSpan.FromHours(3), out _))
        {
            switch (change.Kind)
            {
                case GameEventKind.StartGame:
                    Assert.Equal(8, change.Players.Distinct().Count());
                    Assert.All(change.Players, player => Assert.True(playing.TryAdd(player, change.Game)));
                    games.Add(change.Game, change.Players);
                    break;
                case GameEventKind.EndGame:
                    Assert.True(games.Remove(change.Game, out var players));
                    Assert.Equal(players, change.Players);
                    Assert.All(players!, player => Assert.True(playing.Remove(player)));
                    break;
                case GameEventKind.Depart:
                    Assert.False(playing.ContainsKey(change.Players[0]));
                    break;
            }
        }
    }

    [Theory]
    [InlineData(4, 1)]
    [InlineData(4, 2)]
    [InlineData(67, 3)]
    public void The_configured_share_of_the_players_regroups_per_minute(double churn, int seed)
    {
        var length = TimeSpan.FromHours(20);
        var events = Play(Options with { Churn = churn }, seed, length, out var simulation);
        double regrouped = events.Where(change => change.Kind == GameEventKind.StartGame
            && change.At > TimeSpan.Zero).Sum(change => change.Players.Length);
        var percent = 100 * regrouped / Options.Players / length.TotalMinutes;
        Assert.InRange(percent, 0.9 * churn, 1.1 * churn);
        Assert.InRange(simulation.PlayerCount, 0.85 * Options.Players, 1.15 * Options.Players);
    }

    [Fact]
    public void It_starts_in_the_steady_state()
    {
        var events = Play(Options, 4, TimeSpan.FromHours(10), out _);
        var early = events.Count(change => change.Kind == GameEventKind.EndGame && change.At <= TimeSpan.FromMinutes(20)) / 20.0;
        var all = events.Count(change => change.Kind == GameEventKind.EndGame) / 600.0;
        Assert.InRange(early, 0.75 * all, 1.25 * all);
    }

    [Fact]
    public void Games_last_as_long_as_configured()
    {
        var started = new Dictionary<long, TimeSpan>();
        foreach (var change in Play(Options, 5, TimeSpan.FromHours(5), out _))
        {
            if (change.Kind == GameEventKind.StartGame && change.At > TimeSpan.Zero)
                started.Add(change.Game, change.At);
            else if (change.Kind == GameEventKind.EndGame && started.TryGetValue(change.Game, out var at))
                Assert.InRange((change.At - at).TotalMinutes, 19.99, 30.01);
        }
        Assert.NotEmpty(started);
    }

    [Fact]
    public void Players_leave_after_three_to_five_games()
    {
        var games = new Dictionary<long, int>();
        var departed = 0;
        foreach (var change in Play(Options, 6, TimeSpan.FromHours(10), out _))
        {
            if (change.Kind == GameEventKind.Arrive && change.At > TimeSpan.Zero)
            {
                games.Add(change.Players[0], 0);
            }
            else if (change.Kind == GameEventKind.StartGame)
            {
                foreach (var player in change.Players.Where(games.ContainsKey))
                    games[player]++;
            }
            else if (change.Kind == GameEventKind.Depart && games.TryGetValue(change.Players[0], out var played))
            {
                Assert.InRange(played, 3, 5);
                departed++;
            }
        }
        Assert.True(departed > 1000);
    }

    [Fact]
    public void The_same_seed_gives_the_same_games_and_another_seed_others()
    {
        var first = Print(Play(Options, 7, TimeSpan.FromHours(1), out _));
        Assert.Equal(first, Print(Play(Options, 7, TimeSpan.FromHours(1), out _)));
        Assert.NotEqual(first, Print(Play(Options, 8, TimeSpan.FromHours(1), out _)));
    }

    [Fact]
    public void Small_steps_and_one_large_step_give_the_same_games()
    {
        var steps = new GameSimulation(Options.Games, 9);
        var events = new List<GameEvent>();
        steps.Begin(events);
        for (var minute = 1; minute <= 60; minute++)
            steps.AdvanceTo(TimeSpan.FromMinutes(minute), events);
        Assert.Equal(Print(Play(Options, 9, TimeSpan.FromHours(1), out _)), Print(events));
    }

    [Fact]
    public void Requests_are_about_players_that_play()
    {
        Play(Options, 10, TimeSpan.FromHours(1), out var simulation);
        var playing = new HashSet<long>();
        foreach (var change in Play(Options, 10, TimeSpan.FromHours(1), out _))
        {
            if (change.Kind == GameEventKind.StartGame)
                playing.UnionWith(change.Players);
            else if (change.Kind == GameEventKind.EndGame)
                playing.ExceptWith(change.Players);
        }
        var random = new Random(1);
        Assert.Equal(playing.Count, simulation.PlayingCount);
        for (var i = 0; i < 1000; i++)
            Assert.Contains(simulation.PickPlaying(random), playing);
    }

    private static List<GameEvent> Play(HaloOptions options, int seed, TimeSpan length, out GameSimulation simulation)
    {
        simulation = new GameSimulation(options.Games, seed);
        var events = new List<GameEvent>();
        simulation.Begin(events);
        simulation.AdvanceTo(length, events);
        return events;
    }

    private static string Print(List<GameEvent> events) =>
        string.Join('\n', events.Select(change => $"{change.At.Ticks} {change.Kind} {change.Game} {string.Join(',', change.Players)}"));
}
