using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace ActOp.Simulation.Load;

/// <summary>The log of a machine, in which the batches are counted that were given up: nobody else is told of each of them.</summary>
internal sealed class SkipLog(ILoggerFactory log, Action<string> skipped) : ILoggerFactory
{
    private const int ItemSkipped = 1204;

    /// <summary>Puts it around the log of the services.</summary>
    internal static void Wrap(IServiceCollection services, Action<string> skipped)
    {
        var log = (ILoggerFactory)services.Last(static one => one.ServiceType == typeof(ILoggerFactory)).ImplementationInstance!;
        services.AddSingleton<ILoggerFactory>(new SkipLog(log, skipped));
    }

    public ILogger CreateLogger(string categoryName) => new Lines(log.CreateLogger(categoryName), skipped);

    public void AddProvider(ILoggerProvider provider) => log.AddProvider(provider);

    public void Dispose() => log.Dispose();

    private sealed class Lines(ILogger lines, Action<string> skipped) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => lines.BeginScope(state);

        public bool IsEnabled(LogLevel logLevel) => lines.IsEnabled(logLevel);

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (eventId.Id == ItemSkipped)
                skipped(formatter(state, exception));
            lines.Log(logLevel, eventId, state, exception, formatter);
        }
    }
}
