namespace Orleans.CodeGeneration;

[Flags]
public enum InvokeMethodOptions
{
    None = 0,
    OneWay = 1,
}
