using System.Collections;
using System.Reflection;
using System.Text.Json.Serialization;
using k8s;
using k8s.Models;

namespace ActOp.Deploy.Tests;

/// <summary>
/// Rendered objects as the classes of the package KubernetesClient, which are generated from the OpenAPI description of Kubernetes: fields
/// that it does not know, and values of other types, are refused. What it requires stands in Lists/required.txt.
/// </summary>
internal static class KubernetesObjects
{
    private static readonly Dictionary<string, Type> Custom = new()
    {
        ["monitoring.coreos.com/v1/PodMonitor"] = typeof(PodMonitor),
        ["monitoring.coreos.com/v1/ServiceMonitor"] = typeof(ServiceMonitor),
        ["monitoring.coreos.com/v1/PrometheusRule"] = typeof(PrometheusRule),
    };

    private static readonly Dictionary<string, string[]> Required = Repository.Text("tests/ActOp.Deploy.Tests/Lists/required.txt")
        .Split('\n', StringSplitOptions.RemoveEmptyEntries).Where(static line => line[0] != '#').Select(static line => line.Split(' '))
        .ToDictionary(static words => words[0], static words => words[1..]);

    /// <summary>Reads objects, and finds what is wrong with them.</summary>
    /// <exception cref="Exception">A field or a kind is not known, or a value has another type.</exception>
    public static List<object> Read(string yaml, out List<string> missing)
    {
        // Comments between two marks are documents of their own, and empty.
        var documents = yaml.Split("\n---").Where(static document =>
            document.Split('\n').Any(static line => line.Trim() is { Length: > 0 } text && text[0] != '#' && text != "---"));
        var objects = KubernetesYaml.LoadAllFromString(string.Join("\n---\n", documents), Custom, strict: true);
        missing = [];
        foreach (var one in objects)
            Look(one, one.GetType().Name, missing);
        return objects;
    }

    /// <summary>The only object of a type.</summary>
    public static T Only<T>(this List<object> objects) => Assert.Single(objects.OfType<T>());

    /// <summary>All pods that the objects make, by their names.</summary>
    public static IEnumerable<(string Name, V1PodSpec Spec, IDictionary<string, string> Labels)> Pods(this List<object> objects)
    {
        foreach (var one in objects)
        {
            if (one is V1Deployment deployment)
                yield return (deployment.Name(), deployment.Spec.Template.Spec, deployment.Spec.Template.Metadata.Labels);
            else if (one is V1StatefulSet set)
                yield return (set.Name(), set.Spec.Template.Spec, set.Spec.Template.Metadata.Labels);
            else if (one is V1Pod pod)
                yield return (pod.Name(), pod.Spec, pod.Metadata.Labels);
        }
    }

    private static void Look(object? value, string path, List<string> missing)
    {
        if (value is null or string || value.GetType() is { IsPrimitive: true } or { Namespace: "System" })
            return;
        if (value is IDictionary entries)
        {
            foreach (DictionaryEntry entry in entries)
                Look(entry.Value, path + "." + entry.Key, missing);
            return;
        }

        if (value is IEnumerable items)
        {
            foreach (var item in items)
                Look(item, path + "[]", missing);
            return;
        }

        var properties = value.GetType().GetProperties().Where(static one => one.GetIndexParameters().Length == 0).ToArray();
        foreach (var name in Required.GetValueOrDefault(value.GetType().Name, []))
        {
            if (properties.FirstOrDefault(one => one.GetCustomAttribute<JsonPropertyNameAttribute>()?.Name == name) is not { } property
                || property.GetValue(value) is null or "")
            {
                missing.Add(path + "." + name);
            }
        }

        foreach (var property in properties.Where(static one => one.GetCustomAttribute<JsonPropertyNameAttribute>() is not null))
            Look(property.GetValue(value), path + "." + property.Name, missing);
    }
}

/// <summary>What the chart uses of the monitors of the Prometheus operator (monitoring.coreos.com/v1).</summary>
public abstract class MonitoringObject : IKubernetesObject<V1ObjectMeta>
{
    public string ApiVersion { get; set; } = "";

    public string Kind { get; set; } = "";

    public V1ObjectMeta Metadata { get; set; } = new();
}

public sealed class PodMonitor : MonitoringObject
{
    public MonitorSpec Spec { get; set; } = new();
}

public sealed class ServiceMonitor : MonitoringObject
{
    public MonitorSpec Spec { get; set; } = new();
}

public sealed class MonitorSpec
{
    public V1LabelSelector Selector { get; set; } = new();

    public List<MonitorEndpoint> PodMetricsEndpoints { get; set; } = [];

    public List<MonitorEndpoint> Endpoints { get; set; } = [];
}

public sealed class MonitorEndpoint
{
    public string Port { get; set; } = "";

    public string Path { get; set; } = "";

    public string Interval { get; set; } = "";
}

public sealed class PrometheusRule : MonitoringObject
{
    public RuleGroups Spec { get; set; } = new();
}

public sealed class RuleGroups
{
    public List<RuleGroup> Groups { get; set; } = [];
}

public sealed class RuleGroup
{
    public string Name { get; set; } = "";

    public List<AlertRule> Rules { get; set; } = [];
}

public sealed class AlertRule
{
    public string Alert { get; set; } = "";

    public string Expr { get; set; } = "";

    public string For { get; set; } = "";

    public Dictionary<string, string> Labels { get; set; } = [];

    public Dictionary<string, string> Annotations { get; set; } = [];
}
