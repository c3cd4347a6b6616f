using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans.TestingHost;

namespace ActOp.Testing;

/// <summary>Hosts without settings files, environment variables, signals and console.</summary>
internal static class Hosts
{
    internal static IHostBuilder NewBuilder(IConfiguration configuration)
    {
        var builder = new HostBuilder();
        builder.Properties[TestClusterExtensions.ConfigurationKey] = configuration;
        builder.ConfigureHostConfiguration(host => host.AddConfiguration(configuration));
        if (configuration["ApplicationBaseDirectory"] is { Length: > 0 } root)
            builder.UseContentRoot(root);
        builder.ConfigureServices(services => services.AddSingleton<IHostLifetime, TestLifetime>());
        return builder;
    }

    /// <summary>Waits for silos that start concurrently. If one fails, the others are stopped too.</summary>
    internal static async Task<TSilo[]> StartedAsync<TSilo>(IReadOnlyList<Task<TSilo>> starting)
        where TSilo : SiloHandle
    {
        try
        {
            return await Task.WhenAll(starting).ConfigureAwait(false);
        }
        catch
        {
            await EndAsync([.. starting.Where(static one => one.IsCompletedSuccessfully).Select(static one =>
                one.Result)]).ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Ends silos like a crash. Exceptions of one do not affect the others.</summary>
    internal static async Task EndAsync(IReadOnlyList<SiloHandle> silos)
    {
        await Task.WhenAll(silos.Select(EndAsync)).ConfigureAwait(false);

        static async Task EndAsync(SiloHandle silo) => await silo.StopSiloAsync(stopGracefully: false).ConfigureAwait(false);
    }

    /// <summary>Ends the client and all silos like a crash.</summary>
    internal static async Task EndAsync(TestClient client, IReadOnlyList<SiloHandle> silos)
    {
        try
        {
            client.Kill();
        }
        finally
        {
            await EndAsync(silos).ConfigureAwait(false);
        }
    }

    /// <summary>Starts a cluster; if that fails, ends what has started.</summary>
    /// <exception cref="TimeoutException">The cluster did not become what it should be in time; as Orleans says it.</exception>
    internal static async Task DeployAsync(Func<Task> deploy, Func<ValueTask> end)
    {
        try
        {
            await deploy().ConfigureAwait(false);
        }
        catch (Exception exception)
        {
            await end().ConfigureAwait(false);
            if (exception.GetBaseException() is TimeoutException)
                throw new TimeoutException("Timeout during test initialization", exception);
            throw;
        }
    }

    internal static HostApplicationBuilder NewApplicationBuilder(IConfiguration configuration)
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Configuration.AddConfiguration(configuration);
        builder.Services.AddSingleton<IHostLifetime, TestLifetime>();
        return builder;
    }
}

/// <summary>Only the test starts and stops the host, not signals to the process.</summary>
internal sealed class TestLifetime : IHostLifetime
{
    public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
