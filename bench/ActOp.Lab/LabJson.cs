using System.Text.Json;
using System.Text.Json.Serialization;

namespace ActOp.Lab;

/// <summary>How the lab writes results with --json.</summary>
internal static class LabJson
{
    private static readonly JsonSerializerOptions Options = new(JsonSerializerDefaults.Web)
    {
        WriteIndented = true,
        NumberHandling = JsonNumberHandling.AllowNamedFloatingPointLiterals,
        Converters = { new JsonStringEnumConverter(JsonNamingPolicy.CamelCase) },
    };

    public static void Write<T>(FileInfo file, T report) => File.WriteAllText(file.FullName, JsonSerializer.Serialize(report, Options));
}
