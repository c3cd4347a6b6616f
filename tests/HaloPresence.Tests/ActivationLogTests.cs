using ActOp.Harness.Activations;
using ActOp.Harness.Load;
using HaloPresence.Bench.Faults;
using HaloPresence.Bench.Silos;
using Microsoft.Extensions.Logging;

namespace HaloPresence.Tests;

public sealed class ActivationLogTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("activations");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void Grains_are_active_from_what_they_log_at_their_begin_to_what_they_log_at_their_end()
    {
        using var log = new ActivationLog(null);
        using var loggers = Loggers(log);
        Begins(loggers, "PlayerGrain", 7);
        Begins(loggers, "GameGrain", 8);
        Assert.True(log.HasPlayer(7));
        Assert.False(log.HasPlayer(8));
        Assert.Equal([8], log.PickGames(new Random(1), 16));
        Ends(loggers, "PlayerGrain", 7);
        Ends(loggers, "GameGrain", 8);
        Assert.False(log.HasPlayer(7));
        Assert.Empty(log.PickGames(new Random(1), 16));
    }

    [Fact]
    public void A_grain_that_begins_elsewhere_after_its_end_is_active_once()
    {
        var report = Check(static (one, other) =>
        {
            Begins(one, "PlayerGrain", 7);
            Ends(one, "PlayerGrain", 7);
            Begins(other, "PlayerGrain", 7);
        });
        Assert.Equal((2, 1, 0), (report.Activations, report.Grains, report.Doubles));
    }

    [Fact]
    public void A_grain_that_begins_elsewhere_before_its_end_is_active_twice()
    {
        var report = Check(static (one, other) =>
        {
            Begins(one, "GameGrain", 7);
            Begins(other, "GameGrain", 7);
            Ends(one, "GameGrain", 7);
        });
        Assert.Equal(1, report.Doubles);
        Assert.Contains("Game 7", report.Texts[0], StringComparison.Ordinal);
    }

    [Fact]
    public void A_grain_that_begins_twice_in_one_process_is_active_twice() => Assert.Equal(1, Check(static (one, _) =>
    {
        Begins(one, "PlayerGrain", 7);
        Begins(one, "PlayerGrain", 7);
        Ends(one, "PlayerGrain", 7);
        Ends(one, "PlayerGrain", 7);
    }).Doubles);

    [Fact]
    public void Journals_without_any_activation_are_wrong()
    {
        var result =
            new FaultResult
            {
                Options = new FaultOptions(new Bench.HaloOptions(), FaultMode.Kill, 1, 2),
                Activations =
                Check(static (_, _) => { })
            };
        FaultVerdict.Judge(result);
        Assert.Contains(result.Faults, static fault => fault.Contains("no activation", StringComparison.Ordinal));
    }

    private ActivationReport Check(Action<ILoggerFactory, ILoggerFactory> play)
    {
        string[] paths = [Path.Combine(_folder.FullName, "one"), Path.Combine(_folder.FullName, "other")];
        using (var one = new ActivationLog(paths[0]))
        using (var other = new ActivationLog(paths[1]))
        using (var first = Loggers(one))
        using (var second = Loggers(other))
            play(first, second);
        var over = new MonotonicClock().Now;
        return ActivationCheck.Run(paths.Select(path => (path, over)), ActivationLog.NameOf);
    }

    private static ILoggerFactory Loggers(ActivationLog log) =>
        LoggerFactory.Create(builder => log.AddTo(builder.SetMinimumLevel(LogLevel.Warning)));

    private static void Begins(ILoggerFactory loggers, string grain, long key) =>
        loggers.CreateLogger("HaloPresence." + grain).LogDebug(HaloEvents.Activated, "{Key} is active.", key);

    private static void Ends(ILoggerFactory loggers, string grain, long key) =>
        loggers.CreateLogger("HaloPresence." + grain).LogDebug(HaloEvents.Deactivated, "{Key} is no longer active.", key);
}
