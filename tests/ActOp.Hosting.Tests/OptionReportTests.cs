using ActOp.TestClusters;
using Microsoft.Extensions.Logging;

namespace ActOp.Hosting.Tests;

/// <summary>What a node says at its start of options that change nothing.</summary>
public class OptionReportTests
{
    [Fact]
    public async Task An_option_without_effect_that_is_set_is_logged_once_and_named()
    {
        var log = await StartAsync(silo => silo.Configure<SiloMessagingOptions>(options =>
            options.CancelUnknownRequestOnStatusUpdate = true));
        var line = Assert.Single(log.Lines(LogLevel.Warning), static line => line.Contains("no effect", StringComparison.Ordinal));
        Assert.Contains("MessagingOptions.CancelUnknownRequestOnStatusUpdate", line, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_option_without_effect_at_its_default_is_not_mentioned()
    {
        var log = await StartAsync(silo => silo.Configure<GrainDirectoryOptions>(options =>
            options.LazyDeregistrationDelay = GrainDirectoryOptions.DEFAULT_UNREGISTER_RACE_DELAY));
        Assert.DoesNotContain(log.Lines(LogLevel.Warning), static line => line.Contains("no effect", StringComparison.Ordinal));
    }

    private static async Task<LogCapture> StartAsync(Action<ISiloBuilder> configure)
    {
        var log = new LogCapture();
        var builder = new InProcessTestClusterBuilder(1);
        builder.Options.InitializeClientOnDeploy = false;
        builder.ConfigureSilo((_, silo) =>
        {
            silo.Services.AddSingleton<ILoggerProvider>(log);
            configure(silo);
        });
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        return log;
    }
}
