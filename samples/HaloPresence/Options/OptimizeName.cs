namespace HaloPresence.Options;

/// <summary>What a mode is called in tables, charts and progress.</summary>
public static class OptimizeName
{
    /// <summary>The name of a mode as the results carry it.</summary>
    public static string Of(string mode) => mode switch
    {
        "off" => "random placement",
        "partition" => "locality",
        "threads" => "threads",
        _ => "locality + threads",
    };
}
