using Orleans.Serialization;

namespace Orleans.Runtime;

/// <summary>Takes the values of the request context out, and puts them in.</summary>
public static class RequestContextExtensions
{
    /// <summary>A deep copy of the values; null if there are none.</summary>
    public static Dictionary<string, object>? Export(DeepCopier copier)
    {
        ArgumentNullException.ThrowIfNull(copier);
        var values = new Dictionary<string, object>(RequestContext.Entries);
        return values.Count == 0 ? null : copier.Copy(values);
    }

    /// <summary>Replaces all values.</summary>
    public static void Import(Dictionary<string, object>? contextData)
    {
        RequestContext.Clear();
        foreach (var (key, value) in contextData ?? [])
            RequestContext.Set(key, value);
    }
}
