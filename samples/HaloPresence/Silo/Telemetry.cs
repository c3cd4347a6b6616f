using Microsoft.Extensions.DependencyInjection;
using OpenTelemetry.Metrics;
using OpenTelemetry.Resources;
using OpenTelemetry.Trace;

namespace HaloPresence;

/// <summary>Sends the runtime's metrics and traces to an OpenTelemetry collector: what an application adds to have them.</summary>
public static class Telemetry
{
    /// <summary>Begins with the host and ends with it: what is not sent yet is sent then.</summary>
    /// <param name="services">The services of the silo.</param>
    /// <param name="collector">The address of the collector.</param>
    /// <param name="name">The silo's name in what is sent.</param>
    public static IServiceCollection AddTelemetry(this IServiceCollection services, Uri collector, string name)
    {
        services.AddOpenTelemetry()
            .ConfigureResource(resource => resource.AddService("halo-presence", serviceInstanceId: name))
            .WithMetrics(metrics => metrics
                .AddMeter("ActOp.*")
                .AddOtlpExporter((exporter, reader) =>
                {
                    exporter.Endpoint = collector;
                    reader.PeriodicExportingMetricReaderOptions.ExportIntervalMilliseconds = 5000;
                }))
            // One request in a thousand is plenty at thousands a second.
            .WithTracing(traces => traces
                .SetSampler(new ParentBasedSampler(new TraceIdRatioBasedSampler(0.001)))
                .AddSource("ActOp.Runtime")
                .AddOtlpExporter(exporter => exporter.Endpoint = collector));
        return services;
    }
}
